#if NIO
  /// One request and what became of it.
  ///
  /// The properties of the request can be read from the exchange: `exchange.method` is `exchange.request.method`.
  @dynamicMemberLookup
  public struct Exchange: Sendable, Identifiable {
    /// What became of an exchange.
    public enum Outcome: Sendable, Hashable {
      /// The answer is not complete yet.
      case inFlight
      /// The answer was given to the operating system completely.
      case answered
      /// The client closed the connection before the answer was complete.
      case clientClosed
      /// The server closed the connection before the answer was complete, because the reply said so.
      case serverClosed
      /// The server reset the connection, because the reply said so.
      case serverReset
      /// The server was shut down before the answer was complete.
      case shutDown
      /// The request's content was malformed; the server answered 400 and closed the connection.
      case malformed
    }

    /// The request, as far as it has been received.
    public internal(set) var request: RecordedRequest
    /// The status of the answer's head, once it was sent; interim responses and raw bytes do not count.
    public internal(set) var status: Int?
    /// What became of it.
    ///
    /// An answer's last bytes leave after this has become ``Outcome/answered``, so whoever has read an answer
    /// finds it recorded.
    public internal(set) var outcome = Outcome.inFlight
    /// When the request's head arrived.
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
#endif
