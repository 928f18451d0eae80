public import ApusTestServer
import ApusTesting
import TestSupport

extension TestServer {
  /// Fails unless the server is idle once all transports are shut down: no connection, no exchange, no uncaught
  /// error, no bytes that are not a request.
  ///
  /// - Parameter mayFail: whether errors are expected. Default: `false`.
  public func requireQuiet(mayFail: Bool = false) async throws {
    try await requireSoon("connections or exchanges are left on the server") {
      try await self.wait { $0.openConnections == 0 && $0.inFlight == 0 }
    }
    let rejections = malformedRequests.map(\.reason)
    guard rejections.isEmpty else { throw ConformanceFailure("the server was sent no requests: \(rejections)") }
    let failures = connectionFailures.map(\.reason)
    guard mayFail || failures.isEmpty else { throw ConformanceFailure("the server did not catch: \(failures)") }
  }
}

/// Fails unless a condition holds soon, because some work of a call is done after its end.
public func requireSoon(_ finding: String, _ isSo: @escaping @Sendable () -> Bool) async throws {
  try await requireSoon(finding) { try await waitWhile(!isSo()) }
}

/// Fails unless a transport has no used connection and no waiter. Call it before the shutdown of the transport, which
/// would close leaked connections.
public func requireUnused(_ isUnused: @escaping @Sendable () -> Bool) async throws {
  try await requireSoon("connections are in use that no call uses", isUnused)
}

func requireSoon(_ finding: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: .seconds(120))
      throw ConformanceFailure(finding)
    }
    _ = try await group.next()
    group.cancelAll()
  }
}
