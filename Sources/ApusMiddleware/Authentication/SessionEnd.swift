public import ApusCore

/// The end of a session: the credentials that somebody signed in with are of no use any more.
///
/// | what happened | `onSessionEnd` is told | ``ApusCore/CallError/sessionEnd`` of the call |
/// |---|---|---|
/// | a server refused a refresh for good | ``Reason/expired``, once | ``Reason/expired`` |
/// | a server answers 401 to credentials that cannot be refreshed, or just were | ``Reason/refused``, once | ``Reason/refused`` |
/// | ``ApusCore/Client/signOut()`` | ``Reason/signedOut``, once | |
/// | the source was cleared by other means, and a server wants credentials | ``Reason/signedOut``, once | ``Reason/signedOut`` |
/// | the call waited until another account was signed in, or none | | ``Reason/signedOut`` |
/// | nobody has ever been signed in, and a server wants credentials | | ``Reason/neverSignedIn`` |
/// | a server answers 401 to credentials that were replaced meanwhile, or to a call's own | | `nil` |
///
/// A session whose end was told is not told of again: neither by a sign-out that follows, nor by calls that are refused
/// since nobody is signed in.
public struct SessionEnd: Sendable, Hashable {
  /// The reason why there is no session.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The credentials could not be renewed: a refresh was refused for good.
    case expired
    /// A server refused the credentials, and there was no way to refresh them, or they were fresh from a refresh.
    case refused
    /// Somebody has signed out.
    case signedOut
    /// There has been no session as long as the authentication exists. Only errors say so: nothing has ended.
    case neverSignedIn
  }

  /// The reason.
  public let reason: Reason
  /// The server.
  public let origin: Origin
  /// The name of the environment.
  public let environment: String
  /// The scheme of the authentication, for example `Bearer`; `nil` where servers do not ask for it by a name.
  public let scheme: String?
  /// The first call that met the end; `nil` for a sign-out.
  public let call: CallID?
  /// The generation of the session's last credentials, see ``StoredCredential/generation``.
  public let generation: UInt64
}

extension SessionEnd.Reason {
  /// What the trace of a call says of a session whose end it met.
  var note: StaticNote {
    switch self {
    case .expired: "session expired, generation"
    case .refused: "session refused, generation"
    case .signedOut: "signed out, generation"
    case .neverSignedIn: "never signed in, generation"
    }
  }

  /// The last that a trace says.
  init?(_ trace: Trace) {
    for event in trace.events.reversed() {
      guard case .note(let note, _) = event.kind, let reason = Self.allCases.first(where: { $0.note == note }) else {
        continue
      }
      self = reason
      return
    }
    return nil
  }
}
