import Synchronization

/// Keeps credentials in memory, as long as the process runs.
///
/// ```swift
/// let tokens = MemoryCredentials()
/// var environment = Environment(baseURL: "https://api.example.com/v1")
/// environment.authentication = .bearer(tokens)
/// tokens.set(token: "mF_9.B5f-4.1JqM")  // signed in: the next call carries it
/// tokens.clear()                        // signed out: none does
/// ```
public final class MemoryCredentials: CredentialSource, CustomReflectable {
  private let state: Mutex<StoredCredential>

  /// Starts with credentials, or signed out.
  public init(_ credential: Credential? = nil) {
    state = Mutex(StoredCredential(credential, generation: 0))
  }

  /// Starts with a token.
  public convenience init(token: String) {
    self.init(.token(Secret(token)))
  }

  /// The credentials there are now.
  public func current() -> StoredCredential {
    state.withLock { $0 }
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
    state.withLock { $0 = StoredCredential(credential, generation: $0.generation + 1) }
  }

  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
