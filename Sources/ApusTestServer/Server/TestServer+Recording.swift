extension TestServer {
  /// All exchanges that were not forgotten, in the order in which the heads of their requests arrived.
  public var exchanges: [RecordedExchange] { recorder.record.exchanges }

  /// Forgets the oldest exchanges, up to the first exchange that has not ended. Frees memory in long runs.
  ///
  /// Exchanges keep their numbers. ``exchanges(atLeast:where:)`` counts only exchanges that were not forgotten.
  /// ``malformedRequests`` and ``connectionFailures`` are not forgotten.
  package func forgetExchanges() {
    recorder.forgetSettled()
  }

  /// Input that was not a valid request.
  package var malformedRequests: [ConnectionFailure] { recorder.record.rejections }

  /// Unexpected errors on connections. Disconnects and failed TLS handshakes are not included.
  package var connectionFailures: [ConnectionFailure] { recorder.record.failures }

  /// The number of open connections.
  public var openConnections: Int { recorder.record.channels.count }

  /// The number of connections accepted so far.
  public var acceptedConnections: Int { recorder.record.accepted }

  /// The number of exchanges in flight: from the arrival of a request's head to the last bytes of the response.
  public var inFlight: Int { recorder.record.inFlight }

  /// The highest number of exchanges that were in flight at the same time.
  public var peakInFlight: Int { recorder.record.peakInFlight }

  /// Waits for an exchange that satisfies `matches`, and returns the first such exchange.
  ///
  /// The exchange may still be in flight: check its outcome in `matches` if necessary.
  ///
  /// - Throws: an error if the server is shut down first; `CancellationError` if the task is cancelled.
  @discardableResult
  package func exchange(where matches: (RecordedExchange) -> Bool = { _ in true }) async throws -> RecordedExchange {
    try await first { $0.exchanges.first(where: matches) }
  }

  /// Waits for at least `count` exchanges that satisfy `matches`, and returns all of them.
  ///
  /// - Throws: an error if the server is shut down first; `CancellationError` if the task is cancelled.
  @discardableResult
  public func exchanges(
    atLeast count: Int, where matches: (RecordedExchange) -> Bool = { _ in true }
  ) async throws -> [RecordedExchange] {
    try await first { record in
      let found = record.exchanges.filter(matches)
      return found.count >= count ? found : nil
    }
  }

  /// Waits until a condition holds. The condition is evaluated after every event on the server.
  ///
  /// ```swift
  /// try await server.wait { $0.openConnections == 0 }
  /// ```
  ///
  /// - Throws: an error if the server is shut down first; `CancellationError` if the task is cancelled.
  public func wait(until condition: (TestServer) -> Bool) async throws {
    try await first { _ in condition(self) ? () : nil }
  }

  /// Waits until no exchange is in flight.
  ///
  /// - Throws: an error if the server is shut down first; `CancellationError` if the task is cancelled.
  package func waitUntilIdle() async throws {
    try await wait { $0.inFlight == 0 }
  }

  /// Waits until the client closes the connection of an exchange before the response is complete.
  ///
  /// - Returns: The exchange as it ended.
  /// - Throws: an error if the exchange ended in another way or belongs to another server; `CancellationError` if the
  ///   task is cancelled.
  @discardableResult
  public func waitForClientClose(of exchange: RecordedExchange) async throws -> RecordedExchange {
    try await first { record in
      guard let exchange = record.exchange(exchange.id) else { throw TestServerError.unknownExchange(exchange.id) }
      if exchange.outcome == .clientClosed { return exchange }
      if exchange.isFinal || exchange.outcome == .shutDown {
        throw TestServerError.unexpectedOutcome(exchange.outcome)
      }
      return nil
    }
  }

  private func first<Found>(_ find: (Recorder.Record) throws -> Found?) async throws -> Found {
    try await recorder.first { record in
      if let found = try find(record) { return found }
      if record.isShutDown { throw TestServerError.shutDown }
      return nil
    }
  }
}

/// An error of a wait on a ``TestServer``, or of a server that could not start.
package enum TestServerError: Error, Sendable {
  /// The server was shut down first.
  case shutDown
  /// The exchange ended otherwise than by the client closing the connection.
  case unexpectedOutcome(RecordedExchange.Outcome)
  /// The server has no exchange with this number, or has forgotten it.
  case unknownExchange(Int)
  /// The listening socket has no port.
  case noPort
}
