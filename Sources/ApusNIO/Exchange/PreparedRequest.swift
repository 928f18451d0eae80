#if NIO
  import ApusCore
  import HTTPTypes

  /// A request message that can be sent: where to, and how its content is framed.
  struct PreparedRequest: Sendable {
    let head: HTTPRequest
    let content: MessageContent
    let origin: Origin
    let framing: RequestFraming
    /// Fields the transport adds.
    let added: HTTPFields

    /// - Throws: ``TransportError`` of the kind `unsupported` for what cannot be sent.
    init(_ message: RequestMessage, options: NIOTransport.Options) throws(TransportError) {
      guard let origin = message.origin else {
        throw Self.unsupported("the message has no http or https origin")
      }
      self.origin = origin
      head = message.head
      content = message.content
      framing = Self.framing(of: message)
      added = message.head.headerFields[.userAgent] == nil ? [.userAgent: options.userAgent] : [:]
    }

    /// Whether the request may go out twice without harm (RFC 9110 §9.2.2).
    var isRepeatable: Bool { content.isReplayable && Self.idempotent.contains(head.method.rawValue) }

    private static let idempotent: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"]

    /// Methods whose requests have content as a rule say so when they have none (RFC 9110 §8.6).
    private static let contentful: Set<String> = ["POST", "PUT", "PATCH", "QUERY"]

    private static func framing(of message: RequestMessage) -> RequestFraming {
      if message.content.isEmpty { return contentful.contains(message.head.method.rawValue) ? .length(0) : .none }
      return message.content.length.map { .length($0) } ?? .chunked
    }

    private static func unsupported(_ detail: String) -> TransportError {
      TransportError(.unsupported, requestState: .notSent, detail: detail)
    }
  }
#endif
