import ApusCore

/// The reason why a call was not sent: it was made for an account that is signed out by now, or another one has signed in.
///
/// It is the ``ApusCore/CallError/underlying`` error of such a call, whose code is `declined`. Nothing of the call went
/// out as the other account. ``ApusCore/CallError/requestState`` tells whether an earlier attempt was sent.
public struct PrincipalChanged: Error, Sendable, Hashable {
  /// Makes an error.
  public init() {}

  /// The error of an attempt, hop or replay that is not made.
  static var error: TransportError {
    TransportError(
      .declined, requestState: .notSent, detail: "the account that the call was made for is not signed in any more",
      underlying: PrincipalChanged()
    ).about(.credentials)
  }
}
