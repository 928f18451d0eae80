import ApusCore

/// The credentials with which calls are made for the account of a folder. A pure state machine.
///
/// Principals are numbers of one process, so a later process cannot tell whose a stored response is, only the account
/// that the app names. Once the credentials have changed, or the account has signed out, what is stored from then on is
/// bound to this process as well: an app that keeps its cache for the next user must not mix them up.
struct CacheOwner: Sendable {
  /// The result of a call's credentials.
  struct Binding: Hashable, Sendable {
    /// Whether what is stored belongs to other credentials, and is removed.
    let isOther: Bool
    /// The number to which the responses are bound; `nil`: a later process may use them.
    let run: UInt64?
  }

  /// The credentials by the origin of the environment.
  private var credentials: [Origin?: UInt64] = [:]
  private var run: UInt64?

  /// Returns how the responses to a call are stored.
  ///
  /// - Parameters:
  ///   - number: a number for the credentials of the call.
  ///   - origin: the origin of its environment.
  mutating func bind(_ number: UInt64, at origin: Origin?) -> Binding {
    let previous = credentials.updateValue(number, forKey: origin)
    let isOther = previous.map { $0 != number } ?? false
    if isOther { signOut() }
    return Binding(isOther: isOther, run: run)
  }

  /// Records that the account has signed out.
  mutating func signOut() {
    if run == nil { run = UInt64.random(in: 1 ... .max) }
  }
}
