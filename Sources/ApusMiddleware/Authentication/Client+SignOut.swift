public import ApusCore

extension Client {
  /// Signs out where calls go now: all credentials of the environment are removed, and nothing brings them back.
  ///
  /// Calls that wait, for a refresh or anything else, are not sent any more: they end with ``PrincipalChanged``, those that
  /// wait for a refresh at once, others when they would be sent. Open streams end with it, too. What a refresh under way
  /// gives is thrown away. Calls that have been sent get their answers: whoever does not want them cancels them
  /// (``ApusCore/CallRegistry/cancelAll()``). Whoever is told of the ends of sessions is told of this one, once.
  ///
  /// - Throws: what the first source throws whose credentials could not be removed; they may be there still. The others
  ///   are removed all the same.
  public func signOut() async throws {
    var failure: (any Error)?
    for authentication in environment.authentications {
      do {
        let before = try? await authentication.read()
        try await authentication.parts.source.clear()
        authentication.parts.spaces.forget()
        await authentication.parts.streams.check()
        let next = try await authentication.parts.source.current().generation
        authentication.parts.refresher?.replaced(by: next)
        guard let before, before.credential != nil else { continue }
        for case let credentials as Credentials in parts.pipeline.middlewares {
          credentials.signedOut(authentication, environment, before.generation, next: next)
        }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}
