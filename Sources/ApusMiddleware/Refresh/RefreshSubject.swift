import ApusCore

/// Credentials that a call is about to show or was refused with, and where that was: what it brings to a ``Refresher``.
struct RefreshSubject: Sendable {
  let stored: StoredCredential
  let authentication: Authentication
  let context: CallContext
  /// Where the message goes.
  let origin: Origin?
  /// Tells the app of the call's client.
  let credentials: Credentials

  var generation: UInt64 { stored.generation }

  /// The same with other credentials.
  func with(_ stored: StoredCredential) -> RefreshSubject {
    RefreshSubject(
      stored: stored, authentication: authentication, context: context, origin: origin, credentials: credentials)
  }

  /// The session is over.
  ///
  /// - Parameter next: the generation there is since.
  func ended(next: UInt64) {
    credentials.announce(generation, upTo: next, of: self)
  }
}

extension RefreshSubject {
  /// What a refresh gives may have ended on arrival: then it is asked for once more, and not for ever.
  private static let limit = 2

  /// The credentials to go out with: waits while those there are are no good.
  func current(_ refresher: Refresher) async throws -> StoredCredential {
    var now = self
    for _ in 0..<Self.limit {
      guard now.stored.credential != nil, try await refresher.prepare(now) else { break }
      now = now.with(try await authentication.read())
      guard now.stored.credential == nil || now.stored.principal == stored.principal else {
        throw TransportError(
          .declined, requestState: .notSent, detail: "somebody else signed in while the call waited")
      }
    }
    return now.stored
  }

  /// The credentials to go out with again after a refusal; `nil`: there are no others, or they are somebody else's.
  func next(_ refresher: Refresher) async throws -> StoredCredential? {
    let current = try await authentication.read()
    guard try await refresher.refused(self, current: current.generation) else { return nil }
    let renewed = try await authentication.read()
    // Who signed in meanwhile has not asked for this.
    guard renewed.credential != nil, renewed.generation != generation, renewed.principal == stored.principal
    else { return nil }
    return renewed
  }
}
