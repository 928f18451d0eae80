/// A request and its outcome.
///
/// Properties of the request can be read from the exchange: `exchange.method` is `exchange.request.method`.
@dynamicMemberLookup
public struct RecordedExchange: Sendable, Identifiable {
  /// The outcome of an exchange.
  public enum Outcome: Sendable, Hashable {
    /// The response is not complete yet.
    case inFlight
    /// The complete response was written to the operating system's buffers.
    case replied
    /// The client closed the connection before the response was complete.
    case clientClosed
    /// The server closed the connection before the response was complete, as the reply specified.
    case serverClosed
    /// The server reset the connection, as the reply specified.
    case serverReset
    /// The server was shut down before the response was complete.
    case shutDown
    /// The request's content was malformed: the server responded with 400 and closed the connection.
    case malformed
  }

  /// The request, as far as it has been received.
  public internal(set) var request: RecordedRequest
  /// The status of the response, once its head was sent; `nil` before. Interim responses and raw bytes do not set the
  /// status.
  public internal(set) var status: Int?
  /// The outcome of the exchange.
  ///
  /// The outcome becomes ``Outcome/replied`` before the last bytes leave, so a test that has read the response finds
  /// the exchange recorded.
  public internal(set) var outcome = Outcome.inFlight
  /// The instant at which the request's head arrived.
  package let arrival: ContinuousClock.Instant
  /// Whether the outcome can no longer change.
  var isFinal = false

  init(request: RecordedRequest, arrival: ContinuousClock.Instant) {
    self.request = request
    self.arrival = arrival
  }

  /// The request's ``RecordedRequest/number``.
  public var id: Int { request.number }

  /// Returns the value of a field (header) of the request, or `nil` if the request has no such field; see
  /// ``RecordedRequest/field(_:)``.
  public func field(_ name: String) -> String? { request.field(name) }

  /// A property of the request.
  public subscript<Value>(dynamicMember property: KeyPath<RecordedRequest, Value>) -> Value {
    request[keyPath: property]
  }
}

/// A request as the server received it, not normalized.
public struct RecordedRequest: Sendable, Hashable {
  /// The number of the exchange on this server, from 0, in the order in which heads arrived.
  public let number: Int
  /// The number of the connection, from 0. Requests with the same number shared a connection.
  public let connection: Int
  /// The method token exactly as received, such as `GET`, `QUERY` or `get`.
  public let method: String
  /// The request target (path and query) exactly as received, not decoded.
  public let target: String
  /// The protocol version as received: `HTTP/1.1` or `HTTP/1.0`.
  package let version: String
  /// The field lines of the head (the headers), in order.
  package let fields: FieldLines
  /// The trailers of chunked content; empty until the content is complete.
  package internal(set) var trailers: FieldLines = [:]
  /// The first bytes of the content (the body) received so far, up to the limit of ``TestServer/Options``.
  public internal(set) var content: [UInt8] = []
  /// The number of content bytes received so far, without chunk framing, including bytes that are not stored.
  public internal(set) var contentLength = 0
  /// The digest of all content received so far, including bytes that are not stored.
  package internal(set) var digest = ContentDigest()
  /// Whether the whole request has been received.
  package internal(set) var isComplete = false

  /// Returns the value of a field (header), or `nil` if the request has no such field. The case of the name does not
  /// matter; several lines are joined by ", " (RFC 9110 section 5.3).
  public func field(_ name: String) -> String? { fields[name] }

  /// The target up to its first question mark.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The target after its first question mark, or `nil` if the target has no question mark.
  public var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// The stored content, decoded as UTF-8.
  public var text: String { String(decoding: content, as: UTF8.self) }

  /// Whether the request permits reuse of the connection (RFC 9112 section 9.3).
  var keepsAlive: Bool {
    version == "HTTP/1.1"
      ? !fields.contains("close", in: "Connection") : fields.contains("keep-alive", in: "Connection")
  }
}

/// An unexpected error on a connection, or bytes that were not a valid HTTP/1.1 request. The server responds to such
/// bytes with 400 and closes the connection.
package struct ConnectionFailure: Sendable, Hashable {
  /// The number of the connection.
  package let connection: Int
  /// A description of the error.
  package let reason: String
}
