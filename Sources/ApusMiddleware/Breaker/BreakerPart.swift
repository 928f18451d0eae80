/// What an exchange belongs to at its origin.
enum BreakerPart: Hashable, Sendable {
  /// The circuit of an endpoint: its method and its path template.
  case endpoint(method: String, template: String)
  /// The circuit of a group, in place of those of its endpoints.
  case group(String)
  /// No circuit but the origin's. The text tells one endpoint from another in a run of failures.
  case other(String)

  /// Whether there is a circuit for it below the origin's.
  var hasCircuit: Bool {
    if case .other = self { return false }
    return true
  }
}
