public import HTTPTypes

/// What came back on the wire: the head of the final response and its content.
public struct ResponseMessage: Sendable {
  /// Status and fields (RFC 9110 §15).
  public var head: HTTPResponse
  /// The content, in memory or still arriving.
  public var content: ResponseContent

  /// Makes a message of a head and its content.
  public init(head: HTTPResponse, content: ResponseContent = .empty) {
    self.head = head
    self.content = content
  }

  /// Gives the rest of the content up: an exchange that still runs is drained or closed.
  ///
  /// Whoever receives a response and does not pass it on must discard it.
  public func discard() {
    content.discard()
  }
}
