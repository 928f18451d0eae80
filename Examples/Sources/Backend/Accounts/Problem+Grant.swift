import HTTPTypes

extension Problem {
  /// A refresh token was refused: nothing but a sign-in helps (RFC 6749, section 5.2).
  static func invalidGrant(_ detail: String) -> Problem {
    var problem = Problem(.badRequest, detail)
    problem.error = "invalid_grant"
    return problem
  }
}
