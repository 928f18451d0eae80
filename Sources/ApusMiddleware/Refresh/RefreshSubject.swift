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
    credentials.announce(end(.expired), upTo: next, of: authentication)
  }

  /// What the app is told of the end of the session; `nil`: the message goes nowhere.
  ///
  /// - Parameter session: its generation. Default: that of the credentials.
  func end(_ reason: SessionEnd.Reason, _ session: UInt64? = nil) -> SessionEnd? {
    origin.map { origin in
      SessionEnd(
        reason: reason, origin: origin, environment: context.environment.name,
        scheme: authentication.parts.scheme.name, call: context.call.id,
        generation: session ?? generation)
    }
  }
}

extension RefreshSubject {
  /// What a refresh gives may have ended on arrival: then it is asked for once more, and not for ever.
  private static let limit = 2

  /// The credentials to go out with: waits while those there are are no good.
  func current(_ refresher: Refresher) async throws -> StoredCredential {
    var (now, looks, rests) = (self, 0, 0)
    while looks < Self.limit, now.stored.credential != nil {
      switch try await refresher.prepare(now, after: rests) {
      case .go: return now.stored
      case .look: looks += 1
      case .rested: rests += 1
      }
      now = now.with(try await authentication.read(as: stored.principal))
    }
    return now.stored
  }

  /// The credentials to go out with again after a refusal; `nil`: there are no others.
  func next(_ refresher: Refresher) async throws -> StoredCredential? {
    for rests in 0... {
      let current = try await authentication.read(as: stored.principal)
      switch try await refresher.refused(self, current: current.generation, after: rests) {
      case .rested: continue
      case .go: return nil
      case .look:
        let renewed = try await authentication.read(as: stored.principal)
        return renewed.credential != nil && renewed.generation != generation ? renewed : nil
      }
    }
    return nil
  }
}
