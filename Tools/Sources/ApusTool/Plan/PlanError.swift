/// A command line that makes no sense.
struct PlanError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, as a sentence.
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Of a URL that cannot be used.
  init(_ malformed: TargetURL.Malformed) {
    self.init("\(malformed.description.prefix(1).uppercased())\(malformed.description.dropFirst()).")
  }
}
