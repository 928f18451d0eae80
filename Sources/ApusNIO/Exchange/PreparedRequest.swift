#if NIO
  import ApusCore
  import HTTPTypes

  /// A request message that can be sent: where to, and how it is written.
  struct PreparedRequest: Sendable {
    let head: HTTPRequest
    let content: MessageContent
    let origin: Origin
    let encoder: RequestEncoder
    /// Whether the codings of the answer's content are undone: not where the message itself asked for some.
    let undoesCodings: Bool

    /// - Throws: ``TransportError`` of the kind `unsupported` for what cannot be sent.
    init(_ message: RequestMessage, core: TransportCore) throws(TransportError) {
      if let fault = core.fault { throw fault }
      guard let origin = message.origin else {
        throw Self.unsupported("the message has no http or https origin")
      }
      self.origin = origin
      head = message.head
      content = message.content
      undoesCodings = core.options.undoesCodings && message.head.headerFields[.acceptEncoding] == nil
      encoder = try Self.encoder(of: message, to: origin, core)
    }

    /// Methods whose requests have content as a rule say so when they have none (RFC 9110 §8.6).
    private static let contentful: Set<String> = ["POST", "PUT", "PATCH", "QUERY"]

    private static func encoder(
      of message: RequestMessage, to origin: Origin, _ core: TransportCore
    ) throws(TransportError) -> RequestEncoder {
      var encoder = RequestEncoder(framing: framing(of: message))
      let fields = message.head.headerFields
      // A part of something that is coded as a whole would be of no use (RFC 9110 §14.2).
      let offersCodings = core.options.undoesCodings && fields[.acceptEncoding] == nil && fields[.range] == nil
      if fields[.userAgent] == nil {
        encoder.adding = offersCodings ? core.allFields : core.userAgent
      } else if offersCodings {
        encoder.adding = core.codings
      }
      // To a proxy that passes bytes on unread, only CONNECT says who asks.
      if origin.scheme == "http", let proxy = try core.proxyRules.proxy(to: origin) {
        encoder.form = .absolute
        encoder.adding.append(contentsOf: proxy.fields)
      }
      return encoder
    }

    private static func framing(of message: RequestMessage) -> RequestFraming {
      if message.content.isEmpty { return contentful.contains(message.head.method.rawValue) ? .length(0) : .none }
      return message.content.length.map { .length($0) } ?? .chunked
    }

    private static func unsupported(_ detail: String) -> TransportError {
      TransportError(.unsupported, requestState: .notSent, detail: detail)
    }
  }
#endif
