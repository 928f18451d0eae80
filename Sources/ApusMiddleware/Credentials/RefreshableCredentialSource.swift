/// Keeps credentials that are refreshed. ``MemoryCredentials`` is one.
///
/// Make one ``Authentication`` for a source and give it to all clients that use it. Several refresh one after the other,
/// and each tells its clients' apps by itself when a session is over.
public protocol RefreshableCredentialSource: CredentialSource {
  /// Replaces the credentials of a generation by what a refresh gave, or removes them, in one step with looking whether
  /// that generation is still there: who signed out or in meanwhile stays so.
  ///
  /// The principal stays the same, unless the credentials are removed. When it returns they are stored, as safely as the
  /// source stores anything: whoever waits goes on only then.
  ///
  /// - Parameters:
  ///   - generation: those that were refreshed.
  ///   - credential: the new ones; `nil`: the refresh was refused for good.
  /// - Returns: whether that generation was still there; where it was not, nothing has changed.
  /// - Throws: any error. What the refresh gave is kept and offered again with the next one.
  func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool

  /// Does work while nobody else refreshes these credentials: no other client, and where other processes share the
  /// source none of those.
  ///
  /// Whoever comes second waits, looks at the generation again and finds it replaced. A process that dies holds up
  /// nobody: its lease ends with it.
  ///
  /// Work that asks for the same source again, to do further work exclusively, waits for ever: one refresh is enough. It
  /// may read the credentials, replace them and remove them.
  ///
  /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits; any error of its own.
  func exclusively(_ work: @Sendable () async throws -> Void) async throws
}
