#if NIO
  /// What the server has seen, and waiting for it.
  extension TestServer {
    /// All exchanges that are not forgotten, in the order in which the requests' heads arrived.
    public var exchanges: [Exchange] { recorder.record.exchanges }

    /// Forgets exchanges that are over, from the first up to one that is not: for long runs, whose records would fill
    /// the memory. Exchanges keep their numbers; who waits for some counts those that are remembered. Rejections and
    /// failures stay.
    public func forgetExchanges() {
      recorder.forgetSettled()
    }

    /// Bytes received that were no request.
    public var rejections: [Rejection] { recorder.record.rejections }

    /// Errors on connections that nobody caught; a client that leaves is none, nor one that TLS comes to no
    /// terms with.
    public var failures: [ConnectionFailure] { recorder.record.failures }

    /// How many connections are open.
    public var openConnections: Int { recorder.record.channels.count }

    /// How many connections there have been.
    public var acceptedConnections: Int { recorder.record.accepted }

    /// How many exchanges are in flight: from the arrival of a request's head until the last bytes of the answer.
    public var inFlight: Int { recorder.record.inFlight }

    /// The most exchanges that were in flight at once.
    public var peakInFlight: Int { recorder.record.peakInFlight }

    /// Waits for the first exchange that `matches`, looking again whenever something happens.
    ///
    /// The exchange may still be in flight: ask for its outcome in `matches` when it matters.
    ///
    /// - Throws: ``TestServerError/shutDown`` when the server is shut down first, `CancellationError` when the waiting
    ///   task is cancelled.
    @discardableResult
    public func exchange(where matches: (Exchange) -> Bool = { _ in true }) async throws -> Exchange {
      try await first { $0.exchanges.first(where: matches) }
    }

    /// Waits until there are at least `count` exchanges that `match`, and returns them all.
    ///
    /// - Throws: ``TestServerError/shutDown`` when the server is shut down first, `CancellationError` when the waiting
    ///   task is cancelled.
    @discardableResult
    public func exchanges(
      atLeast count: Int, where matches: (Exchange) -> Bool = { _ in true }
    ) async throws -> [Exchange] {
      try await first { record in
        let found = record.exchanges.filter(matches)
        return found.count >= count ? found : nil
      }
    }

    /// Waits until a condition holds, looking again whenever something happens to the server.
    ///
    /// ```swift
    /// try await server.wait { $0.openConnections == 0 }
    /// ```
    ///
    /// - Throws: ``TestServerError/shutDown`` when the server is shut down first, `CancellationError` when the waiting
    ///   task is cancelled.
    public func wait(until condition: (TestServer) -> Bool) async throws {
      try await first { _ in condition(self) ? () : nil }
    }

    /// Waits until no exchange is in flight.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func waitUntilIdle() async throws {
      try await wait { $0.inFlight == 0 }
    }

    /// Waits until the client has closed an exchange's connection before the answer was complete.
    ///
    /// - Returns: The exchange, as it ended.
    /// - Throws: ``TestServerError/endedOtherwise(_:)`` when it ended in another way,
    ///   ``TestServerError/unknownExchange(_:)`` when it was forgotten, `CancellationError` when the waiting task is
    ///   cancelled.
    @discardableResult
    public func waitForClientClose(of exchange: Exchange) async throws -> Exchange {
      try await first { record in
        guard let exchange = record.exchange(exchange.id) else { throw TestServerError.unknownExchange(exchange.id) }
        if exchange.outcome == .clientClosed { return exchange }
        if exchange.isSettled || exchange.outcome == .shutDown {
          throw TestServerError.endedOtherwise(exchange.outcome)
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
#endif
