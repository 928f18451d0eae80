import Testing

@testable import ApusCore
@testable import ApusMiddleware

/// The facts of layers, outermost first, and the warning expected of a rule. The layers are named A, B and C.
struct RuleRow: Sendable, CustomTestStringConvertible {
  let facts: [[Fact]]
  /// The sentence of the warning; `nil` if none is expected.
  let sentence: String?

  init(_ facts: [Fact]..., says sentence: String? = nil) {
    self.facts = facts
    self.sentence = sentence
  }

  var layers: [ClientDescription.Layer] {
    zip(["A", "B", "C"], facts).map { name, facts in ClientDescription.Layer(.slot(.trace), name, facts) }
  }

  var testDescription: String { "\(facts)" }

  /// The warning expected of the rule.
  func warning(_ code: ClientDescription.Warning.Code) -> ClientDescription.Warning? {
    sentence.map { ClientDescription.Warning(code, $0) }
  }
}

extension Fact {
  /// Delays from 200 ms, doubling up to 20 s.
  static let somePauses = Fact.backoff(first: .milliseconds(200), maximum: .seconds(20))
  /// A failure ratio of 0.5 over at least 10 exchanges within 30 s.
  static let someRatio = Fact.failureRatio(0.5, minimum: 10, window: .seconds(30))
}
