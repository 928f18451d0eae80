public import HTTPTypes

/// What goes on the wire: a complete, validated head and its content.
///
/// Made from a ``Request`` by the client, passed through the middlewares, and sent by the transport.
public struct RequestMessage: Sendable {
  /// Method, scheme, authority, request target and fields (RFC 9110 §6.2, §6.3).
  public var head: HTTPRequest
  /// The content to send.
  public var content: MessageContent

  /// Makes a message of a head and its content, as they are.
  public init(head: HTTPRequest, content: MessageContent = .empty) {
    self.head = head
    self.content = content
  }

  /// Path and query as sent, for example `/users/7?fields=name`.
  public var target: String {
    get { head.path ?? "/" }
    set { head.path = newValue }
  }

  /// Scheme, host and port this message goes to; `nil` when the head names no valid authority.
  public var origin: Origin? {
    guard let scheme = head.scheme, let authority = head.authority else { return nil }
    return Origin(scheme: scheme, authority: authority)
  }

  /// The whole URL as text, query included. It may hold secrets: for sending, not for logs.
  public var url: String {
    "\(head.scheme ?? "")://\(head.authority ?? "")\(target)"
  }
}
