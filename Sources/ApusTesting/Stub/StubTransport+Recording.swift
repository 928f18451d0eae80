/// What the stub was sent.
extension StubTransport {
  /// All exchanges, in the order in which they began.
  public var exchanges: [StubExchange] { watched.read(\.exchanges) }

  /// The exchanges that have not ended.
  public var openExchanges: [StubExchange] { exchanges.filter { $0.outcome == .inFlight } }

  /// Waits until at least `count` requests have been sent completely, and gives all exchanges.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  @discardableResult
  public func waitForExchanges(_ count: Int) async throws -> [StubExchange] {
    try await wait { $0.count { $0.isRequestComplete || $0.outcome != .inFlight } >= count }
  }

  /// Waits until no exchange is in flight, and gives all exchanges.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  @discardableResult
  public func waitUntilIdle() async throws -> [StubExchange] {
    try await wait { $0.allSatisfy { $0.outcome != .inFlight } }
  }

  /// Waits until the exchanges satisfy a condition, which is asked after each change, and gives them.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  @discardableResult
  public func wait(
    until condition: @escaping @Sendable ([StubExchange]) -> Bool
  ) async throws -> [StubExchange] {
    try await watched.first { condition($0.exchanges) ? $0.exchanges : nil }
  }
}
