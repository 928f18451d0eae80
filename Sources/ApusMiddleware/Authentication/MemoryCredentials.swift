import Synchronization

/// Keeps credentials in memory, as long as the process runs.
public final class MemoryCredentials: CredentialSource {
  private struct State {
    var credential: Credential?
    var generation: UInt64 = 0
  }

  private let state: Mutex<State>

  /// Starts with credentials, or signed out.
  public init(_ credential: Credential? = nil) {
    state = Mutex(State(credential: credential))
  }

  /// Starts with a token.
  public convenience init(token: String) {
    self.init(.token(Secret(token)))
  }

  /// The credentials there are now.
  public func credential() -> StoredCredential? {
    state.withLock { state in state.credential.map { StoredCredential($0, generation: state.generation) } }
  }

  /// Replaces the credentials.
  public func set(_ credential: Credential) {
    replace(by: credential)
  }

  /// Replaces the credentials by a token.
  public func set(token: String) {
    replace(by: .token(Secret(token)))
  }

  /// Removes the credentials.
  public func clear() {
    replace(by: nil)
  }

  private func replace(by credential: Credential?) {
    state.withLock { state in
      state.credential = credential
      state.generation += 1
    }
  }
}
