public import ApusCore

extension Client {
  /// Signs out where calls go now: all credentials of the environment are removed, and nothing brings them back.
  ///
  /// Calls that wait for a refresh wait no longer and go on without credentials; one that was refused gets its refusal.
  /// What a refresh under way gives is thrown away. Calls that have left get their answers: whoever does not want them
  /// cancels them (``ApusCore/CallRegistry/cancelAll()``).
  ///
  /// - Throws: what the first source throws whose credentials could not be removed; they may be there still. The others
  ///   are removed all the same.
  public func signOut() async throws {
    var failure: (any Error)?
    for authentication in environment.authentications {
      do {
        try await authentication.parts.source.clear()
        authentication.parts.spaces.forget()
        if let refresher = authentication.parts.refresher {
          refresher.replaced(by: try await authentication.parts.source.current().generation)
        }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}
