import Testing

/// An authentication scheme and an outcome of the call.
struct SecretCase: Sendable, CustomTestStringConvertible {
  let authenticator: Authenticator
  let ending: Ending

  var testDescription: String { "\(authenticator.rawValue), \(ending.rawValue)" }

  /// All combinations that are possible.
  static let all: [SecretCase] = Authenticator.allCases.flatMap { authenticator in
    Ending.allCases.filter { !$0.isOfRefresh || authenticator == .refreshedBearer }.map { ending in
      SecretCase(authenticator: authenticator, ending: ending)
    }
  }
}
