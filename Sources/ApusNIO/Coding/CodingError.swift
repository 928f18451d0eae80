#if NIO
  /// Why coded content cannot be decoded (RFC 9110 §8.4).
  public struct CodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, one case each.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// More codings than ``NIOTransport/Limits/codings``.
      case tooManyCodings
      /// The bytes are not what the coding's format says, or their checksum is wrong.
      case malformed
      /// The content ended before its coding did.
      case truncated
      /// Bytes follow the end of the coding.
      case trailingBytes
      /// More content than ``NIOTransport/Limits/decodedBytes``.
      case tooLarge
      /// The content grew more than ``NIOTransport/Limits/decodedRatio`` allows.
      case ratioTooHigh
      /// There is no memory to decode with.
      case outOfMemory
    }

    /// What is wrong.
    public let kind: Kind
    /// What exactly is wrong, for logs. Holds no content.
    public let detail: String

    init(_ kind: Kind, _ detail: String) {
      self.kind = kind
      self.detail = detail
    }

    /// Kind and detail.
    public var description: String { "\(kind.rawValue): \(detail)" }
  }
#endif
