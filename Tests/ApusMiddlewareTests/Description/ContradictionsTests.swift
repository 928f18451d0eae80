import ApusTesting
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("All contradictions")
struct ContradictionsTests {
  private typealias Code = ClientDescription.Warning.Code

  private static let attempt = Fact.attemptLimit(.seconds(10))
  private static let total = Fact.totalLimit(.seconds(30))

  /// A client for each contradiction.
  private static let clients: [(code: Code, row: RuleRow)] = [
    (.attemptLimitBeyondTotal, RuleRow([.totalLimit(.seconds(1))], [attempt])),
    (.attemptsBeyondTotal, RuleRow([.totalLimit(.seconds(10))], [.attempts(9)], [attempt])),
    (.serverDelayBeyondTotal, RuleRow([total], [.attempts(2), .serverDelay(upTo: .seconds(60), isClamped: true)])),
    (.noBackoff, RuleRow([.attempts(2), .backoff(first: .zero, maximum: .zero)])),
    (.budgetTooSmall, RuleRow([.attempts(2), .budget(capacity: 0, cost: 1)])),
    (.attemptsMultiply, RuleRow([.attempts(2)], [.attempts(2)])),
    (.permitsHeldDuringBackoff, RuleRow([.permits(perOrigin: 1, total: 1)], [.attempts(2)])),
    (.breakerOutsideRetry, RuleRow([.someRatio], [.attempts(2)])),
    (.attemptLimitOutsideRetry, RuleRow([attempt], [.attempts(2)])),
    (.totalLimitInsideRetry, RuleRow([.attempts(2)], [total])),
    (.breakerWithinOneCall, RuleRow([.attempts(2)], [.consecutiveFailures(1)])),
    (.breakerWindowTooShort, RuleRow([.attemptLimit(.seconds(20))], [.someRatio])),
    (.breakerBeyondPermits, RuleRow([.permits(perOrigin: 1, total: 1)], [attempt], [.someRatio])),
    (.breakerBeyondRate, RuleRow([.rate(interval: .seconds(60), burst: 1)], [.someRatio])),
    (.permitsBeyondConnections, RuleRow([.permits(perOrigin: 2, total: 2)], [.connections(perOrigin: 1, total: 1)])),
    (.cacheWithoutAccount, RuleRow([.cacheWithoutAccount])),
  ]

  @Test("A client with one contradiction has exactly one warning", arguments: clients.indices)
  func everyRule(index: Int) {
    let (code, row) = Self.clients[index]
    #expect(Contradictions.warnings(of: row.layers).map(\.code) == [code])
  }

  @Test("The tests cover each warning code")
  func everyCode() {
    #expect(Self.clients.map { $0.code } == Code.allCases)
  }

  @Test("Layers without facts cause no warnings")
  func nothing() {
    #expect(Contradictions.warnings(of: []).isEmpty)
    #expect(Contradictions.warnings(of: RuleRow([], []).layers).isEmpty)
  }

  @Test("Evaluating and printing extreme facts does not trap", arguments: 0..<20)
  func absurd(seed: UInt64) {
    var facts = AbsurdFacts(seed: seed)
    for _ in 0..<200 {
      let layers = (0..<4).map { ClientDescription.Layer(.slot(.trace), "L\($0)", facts.next()) }
      #expect(!ClientDescription(layers: layers, environment: "e").description.isEmpty)
    }
  }
}

/// A generator of random, extreme facts.
private struct AbsurdFacts {
  private static let counts = [Int.min, -1, 0, 1, 2, 3, 1000, Int.max - 1, Int.max]
  private static let times: [Duration] = [
    .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .milliseconds(1), .seconds(10), .seconds(Int64.max),
  ]
  private static let ratios = [-1, 0, 0.5, 2, Double.infinity, Double.nan]

  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func next() -> [Fact] {
    var facts: [Fact] = [
      .totalLimit(time()), .attemptLimit(time()), .attempts(count()), .backoff(first: time(), maximum: time()),
      .serverDelay(upTo: time(), isClamped: true), .budget(capacity: count(), cost: count()),
      .permits(perOrigin: count(), total: count()), .rate(interval: time(), burst: count()),
      .failureRatio(pick(Self.ratios), minimum: count(), window: time()), .consecutiveFailures(count()),
      .connections(perOrigin: count(), total: count()), .time("", nil), .setting("", ""),
    ]
    facts.shuffle(using: &generator)
    return Array(facts.prefix(3))
  }

  private mutating func count() -> Int { pick(Self.counts) }

  private mutating func time() -> Duration { pick(Self.times) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &generator)]
  }
}
