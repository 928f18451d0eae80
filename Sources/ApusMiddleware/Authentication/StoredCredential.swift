/// What a source keeps at one moment: credentials or none, and how often they were replaced until then.
public struct StoredCredential: Sendable, Hashable {
  /// The credentials; `nil` when signed out.
  public let credential: Credential?
  /// Goes up each time the source's credentials are replaced or cleared, so that new ones can be told from old
  /// ones without looking at them. Any number at first.
  public let generation: UInt64

  /// Makes a stored credential; for sources of your own.
  public init(_ credential: Credential?, generation: UInt64) {
    self.credential = credential
    self.generation = generation
  }
}
