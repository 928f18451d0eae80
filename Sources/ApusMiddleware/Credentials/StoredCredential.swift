/// What a source keeps at one moment: credentials or none, and how often they were replaced until then.
public struct StoredCredential: Sendable, Hashable {
  /// The credentials; `nil` when signed out.
  public let credential: Credential?
  /// Goes up each time the source's credentials are replaced or cleared, so that new ones can be told from old
  /// ones without looking at them. Any number at first.
  public let generation: UInt64
  /// Whose credentials they are: changes when somebody signs in or out, and not when credentials are refreshed. A call is
  /// bound to it when it begins, and is never sent with the credentials of another one. A number never comes back.
  public let principal: UInt64
  /// How long they are still good; `nil`: nobody knows.
  public let remaining: Duration?

  /// Makes a stored credential; for sources of your own.
  ///
  /// - Parameters:
  ///   - generation: how often they were replaced.
  ///   - principal: whose they are. A source whose credentials are never refreshed may give the generation: then calls that
  ///     wait end with ``PrincipalChanged`` when they are replaced.
  ///   - remaining: how long they are still good. Default: nobody knows.
  public init(_ credential: Credential?, generation: UInt64, principal: UInt64, remaining: Duration? = nil) {
    self.credential = credential
    self.generation = generation
    self.principal = principal
    self.remaining = remaining
  }
}
