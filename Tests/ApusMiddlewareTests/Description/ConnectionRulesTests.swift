import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Concurrency limits beyond a transport's connections")
struct ConnectionRulesTests {
  private static let pool = [Fact.connections(perOrigin: 16, total: 256)]

  private static func waiting(_ granted: String, _ there: Int) -> String {
    "A allows \(granted), but B has only \(there) connections for them: over HTTP/1.1 the other calls wait in the "
      + "transport, whatever their priority, while their timeouts run."
  }

  private static let rows: [RuleRow] = [
    RuleRow([.permits(perOrigin: 5, total: 64)], pool), RuleRow([.permits(perOrigin: 16, total: 256)], pool),
    // Without a scheduler limit, the transport's limits apply.
    RuleRow([.permits(perOrigin: .max, total: .max)], pool), RuleRow([.permits(perOrigin: .max, total: 64)], pool),
    RuleRow([.permits(perOrigin: 16, total: .max)], pool),
    // The total limit also bounds one origin.
    RuleRow([.permits(perOrigin: 64, total: 8)], pool),
    RuleRow([.permits(perOrigin: 64, total: 64)], [.connections(perOrigin: .max, total: .max)]),
    RuleRow([.permits(perOrigin: 64, total: 64)], [.setting("connections", "6")]), RuleRow([.attempts(3)], pool),
    RuleRow([.permits(perOrigin: 64, total: .max)], pool, says: waiting("64 concurrent calls per origin", 16)),
    RuleRow(
      [.permits(perOrigin: 8, total: 64)], [.connections(perOrigin: 16, total: 4)],
      says: waiting("8 concurrent calls per origin", 4)),
    RuleRow([.permits(perOrigin: 5, total: 300)], pool, says: waiting("300 concurrent calls in total", 256)),
  ]

  @Test(
    "Warning permitsBeyondConnections: the scheduler admits more calls than the transport has connections",
    arguments: rows)
  func permitsBeyondConnections(row: RuleRow) {
    #expect(Contradictions.permitsBeyondConnections(row.layers) == row.warning(.permitsBeyondConnections))
  }
}
