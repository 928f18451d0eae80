/// What a transport did that it must not do, or did not do that it must.
public struct ConformanceFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The finding as a sentence.
  public let text: String

  /// Makes a failure; adapters of servers may throw one as well.
  public init(_ text: String) {
    self.text = text
  }

  /// The finding.
  public var description: String { text }
}

/// Throws a failure unless `condition` holds.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
  guard condition else { throw ConformanceFailure(text()) }
}

/// Throws a failure unless both are equal.
func require<Value: Equatable>(_ value: Value, is expected: Value, _ subject: @autoclosure () -> String) throws {
  guard value == expected else { throw ConformanceFailure("\(subject()) is \(value), not \(expected)") }
}
