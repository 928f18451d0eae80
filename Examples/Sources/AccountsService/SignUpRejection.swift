/// Why somebody could not sign up: what to show beside which input.
public struct SignUpRejection: Decodable, Sendable, Hashable {
  /// One input that was not accepted.
  public struct Problem: Decodable, Sendable, Hashable {
    /// The input's name: `name`, `email` or `password`.
    public let field: String
    /// What is wrong with it, for example `must have at least 8 characters`.
    public let message: String

    /// Makes a problem, for previews and tests.
    public init(field: String, message: String) {
      self.field = field
      self.message = message
    }
  }

  /// What was wrong, never empty.
  public let errors: [Problem]

  /// Makes a rejection, for previews and tests.
  public init(errors: [Problem]) {
    self.errors = errors
  }
}
