#if NIO
  extension NIOTransport {
    /// What an answer may cost before it is refused, besides how much content a call takes (`contentLimit`).
    ///
    /// An answer beyond one of these fails with the code `malformedResponse` or, where its content is too much,
    /// `contentTooLarge`; the error below it is a ``FramingError`` or a ``CodingError`` whose kind names the limit.
    public struct Limits: Sendable, Hashable {
      /// The most bytes of status lines and field lines in one answer, interim responses and trailers included. Default:
      /// 256 KiB.
      public var fieldBytes = 256 << 10
      /// The most fields in one answer, those of interim responses and trailers included; up to 60,000. Default: 1,000.
      public var fields = 1000
      /// The most interim responses before the final one (RFC 9110 §15.2). Default: 64.
      public var interimResponses = 64
      /// The most codings of one answer's content that are undone, over all its `Content-Encoding` fields. Default: 5.
      public var codings = 5
      /// The most bytes that content becomes when a coding is undone. Default: 1 GiB.
      public var decodedBytes: Int64 = 1 << 30
      /// How many times longer than what arrived content may become, once it is longer than ``ratioAllowance``.
      /// Default: 200.
      public var decodedRatio: Int64 = 200
      /// How many bytes content may become at any ratio: ordinary answers are short, and some very repetitive.
      /// Default: 8 MiB.
      public var ratioAllowance: Int64 = 8 << 20

      /// The defaults.
      public init() {}
    }
  }

  extension FramingLimits {
    init(_ limits: NIOTransport.Limits) {
      self.init(fieldBytes: limits.fieldBytes, fieldCount: limits.fields, interimCount: limits.interimResponses)
    }
  }

  extension CodingLimits {
    init(_ limits: NIOTransport.Limits) {
      self.init(
        length: limits.decodedBytes, ratio: limits.decodedRatio, ratioAllowance: limits.ratioAllowance,
        chainLength: limits.codings)
    }
  }
#endif
