public import ApusCore

/// A server did not accept the credentials it was shown, or wanted some: time to sign in again.
public struct UnauthorizedEvent: Sendable, Hashable {
  /// The server.
  public let origin: Origin
  /// The name of the environment.
  public let environment: String
  /// The first call that was refused.
  public let call: CallID
  /// The generation of the credentials, see ``StoredCredential/generation``.
  public let generation: UInt64
}
