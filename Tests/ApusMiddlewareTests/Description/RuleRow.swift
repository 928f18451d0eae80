import Testing

@testable import ApusCore
@testable import ApusMiddleware

/// What layers say of themselves, outermost first, and what a rule says of that. The layers' names are A, B, C.
struct RuleRow: Sendable, CustomTestStringConvertible {
  let facts: [[Fact]]
  /// `nil`: there is nothing to be said.
  let sentence: String?

  init(_ facts: [Fact]..., says sentence: String? = nil) {
    self.facts = facts
    self.sentence = sentence
  }

  var layers: [ClientDescription.Layer] {
    zip(["A", "B", "C"], facts).map { name, facts in ClientDescription.Layer(.slot(.trace), name, facts) }
  }

  var testDescription: String { "\(facts)" }

  /// What the rule is to answer.
  func warning(_ code: ClientDescription.Warning.Code) -> ClientDescription.Warning? {
    sentence.map { ClientDescription.Warning(code, $0) }
  }
}

extension Fact {
  /// Pauses of up to 200 ms, which double up to 20 s.
  static let somePauses = Fact.pauses(first: .milliseconds(200), longest: .seconds(20))
  /// Half of at least 10 within 30 s.
  static let someRatio = Fact.failureRatio(0.5, minimum: 10, window: .seconds(30))
}
