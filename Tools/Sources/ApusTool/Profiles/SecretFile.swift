import Apus
import ApusCredentials
import ApusOAuth

/// The credentials of one login in encrypted files. No other type of the tool uses `FileCredentialsStore`.
///
/// The encrypted content contains its purpose, as the user name or account. The readable part of a profile can be
/// changed without the key. Because of the purpose, a changed profile cannot redirect a secret to another server.
struct SecretFile: Sendable, Hashable {
  let profile: Profile
  let folder: ProfileFolder

  private var secret: FileCredentialsStore {
    FileCredentialsStore(at: folder.secret(of: profile.name, login: profile.login), key: .file(folder.key))
  }

  /// The store of tokens that are refreshed.
  var tokens: FileCredentialsStore {
    FileCredentialsStore(at: folder.tokens(of: profile.name, login: profile.login), key: .file(folder.key))
  }

  /// Reads the credentials; creates no files.
  ///
  /// - Returns: the credentials; `nil` if none are stored.
  /// - Throws: ``ProfileError/unreadable(_:folder:reason:)``; ``ProfileError/damaged(_:path:reason:)`` if they belong
  ///   to another profile, server or account than the readable part states.
  func read() async throws -> SignedIn.Credentials? {
    guard let stored = try await reading({ try await secret.current().credential }) else { return nil }
    guard case .password(let owner, let secret) = stored, isOwn(owner) else { throw misplaced }
    switch profile.account {
    case .bearer: return .credential(.token(secret))
    case .basic(let user), .digest(let user): return .credential(.password(user: user, secret))
    case .oauth:
      guard let session = OAuthSession(secret) else {
        throw ProfileError.damaged(
          profile.name, path: folder.secret(of: profile.name, login: profile.login), reason: "its content is invalid")
      }
      let stored = try await currentTokens()
      guard stored.credential != nil else { return nil }
      guard let owner = stored.account, isOwn(owner) else { throw misplaced }
      return .oauth(session, self)
    }
  }

  /// Reads the tokens that are refreshed.
  ///
  /// - Throws: ``ProfileError/unreadable(_:folder:reason:)``
  func currentTokens() async throws -> StoredCredential {
    let tokens = tokens
    return try await reading { try await tokens.current() }
  }

  /// Stores the secret on disk, and tokens that are refreshed; creates a missing key.
  ///
  /// - Throws: ``ProfileError/notKept(_:folder:reason:)``; `CancellationError`
  func write(_ secret: Secret, _ tokens: Tokens?) async throws {
    do {
      try await self.secret.set(.password(user: profile.identity, secret))
      if let tokens { try await self.tokens.set(.tokens(tokens), account: profile.identity) }
    } catch let error as CredentialsStoreError {
      throw ProfileError.notKept(profile.name, folder: folder.path, reason: error.description)
    }
  }

  /// Whether an owner is the profile. Compares bytes, because canonically equivalent texts are different names.
  private func isOwn(_ owner: String) -> Bool { owner.utf8.elementsEqual(profile.identity.utf8) }

  private var misplaced: ProfileError {
    .damaged(profile.name, path: folder.profile(profile.name), reason: "its credentials belong to something else")
  }

  private func reading<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as CredentialsStoreError {
      throw ProfileError.unreadable(profile.name, folder: folder.path, reason: error.description)
    }
  }
}

/// A profile with its credentials.
struct SignedIn: Sendable, Hashable {
  /// The credentials of a profile.
  enum Credentials: Sendable, Hashable {
    case credential(Credential)
    /// Tokens that are refreshed, in files.
    case oauth(OAuthSession, SecretFile)
  }

  let profile: Profile
  let credentials: Credentials

  /// Returns the authentication of a client, for the profile's server only.
  ///
  /// - Parameter transport: the transport to an authorization server.
  /// - Throws: `BaseURL.ParseError`
  func authentication(over transport: any Transport) throws -> Authentication {
    let origins: Set = [profile.origin]
    switch credentials {
    case .credential(let credential):
      let source = MemoryCredentialsStore(credential)
      switch profile.account {
      case .basic: return .basic(source, origins: origins)
      case .digest:
        // A user of a server without TLS has accepted that others can read the traffic.
        return .digest(source, origins: origins, allowsMD5: profile.origin.scheme == "http" ? true : nil)
      case .bearer, .oauth: return .bearer(source, origins: origins)
      }
    case .oauth(let session, let file):
      let sender = try Client.toAuthorizationServer(session.tokenEndpoint, over: transport)
      return .oauth(session.client(using: sender), file.tokens, origins: origins)
    }
  }
}
