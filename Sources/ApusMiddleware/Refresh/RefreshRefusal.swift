import ApusCore

/// A refresh that is refused for good: the credentials will never buy new ones. What a refresh throws that finds this out
/// by other means than a server's 401, 403 or `invalid_grant`.
public struct RefreshRefusal: Error, Sendable, Hashable {
  /// Makes a refusal.
  public init() {}

  /// Whether nothing but a sign-in helps (RFC 6749 §5.2): 401 and 403 say so, 400 only with `invalid_grant`, since it may
  /// be about anything else in the request.
  static func isLasting(_ error: any Error) -> Bool {
    if error is RefreshRefusal { return true }
    guard let error = error as? CallError else { return false }
    if error.underlying is RefreshRefusal { return true }
    guard error.code == .rejected else { return false }
    switch error.status {
    case 401, 403: return true
    case 400: return error.content.flatMap { try? $0.decode(Refused.self) }?.error == "invalid_grant"
    default: return false
    }
  }

  private struct Refused: Decodable {
    let error: String
  }
}
