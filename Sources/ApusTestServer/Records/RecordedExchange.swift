/// A request and its outcome.
///
/// Properties of the request can be read from the exchange: `exchange.method` is `exchange.request.method`.
@dynamicMemberLookup
public struct RecordedExchange: Sendable, Identifiable {
  /// The outcome of an exchange.
  public enum Outcome: Sendable, Hashable {
    /// The response is not complete yet.
    case inFlight
    /// The complete response was handed to the operating system.
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
  /// The status of the response, once its head was sent; `nil` before. Interim responses and raw bytes do not count.
  public internal(set) var status: Int?
  /// The outcome of the exchange.
  ///
  /// The outcome becomes ``Outcome/replied`` before the last bytes leave, so a test that has read the response finds
  /// the exchange recorded.
  public internal(set) var outcome = Outcome.inFlight
  /// The instant at which the request's head arrived.
  public let arrival: ContinuousClock.Instant
  /// Whether the outcome can no longer change.
  var isSettled = false

  init(request: RecordedRequest, arrival: ContinuousClock.Instant) {
    self.request = request
    self.arrival = arrival
  }

  /// The request's ``RecordedRequest/number``.
  public var id: Int { request.number }

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
  public let version: String
  /// The field lines of the head (the headers), in order.
  public let fields: FieldLines
  /// The trailers of chunked content; empty until the content is complete.
  public internal(set) var trailers: FieldLines = [:]
  /// The first bytes of the content (the body) received so far, at most ``TestServer/Options/contentLimit`` of them.
  public internal(set) var content: [UInt8] = []
  /// The number of content bytes received so far, without chunk framing, whether kept or not.
  public internal(set) var contentLength = 0
  /// The digest of all content received so far, whether kept or not.
  public internal(set) var digest = ContentDigest()
  /// Whether the whole request has been received.
  public internal(set) var isComplete = false

  /// The target up to its first question mark.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The target after its first question mark, or `nil` if it has none.
  public var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// The kept content, decoded as UTF-8.
  public var text: String { String(decoding: content, as: UTF8.self) }

  /// Whether the client wants to reuse the connection after this exchange (RFC 9112 section 9.3).
  var keepsAlive: Bool {
    version == "HTTP/1.1"
      ? !fields.contains("close", in: "Connection") : fields.contains("keep-alive", in: "Connection")
  }
}

/// Bytes from a client that were not a valid HTTP/1.1 request: the server responded with 400 and closed the
/// connection.
public struct MalformedRequest: Sendable, Hashable {
  /// The number of the connection.
  public let connection: Int
  /// A description of the violation.
  public let reason: String
}

/// An unexpected error on a connection: neither caused by a fault nor by the client closing the connection.
public struct ConnectionFailure: Sendable, Hashable {
  /// The number of the connection.
  public let connection: Int
  /// A description of the error.
  public let reason: String
}
