import Apus
import ApusCredentials

/// The credentials of one login in an encrypted file. No other type of the tool uses `FileCredentialsStore`.
///
/// The encrypted content contains its purpose, in the place of the user name. The readable part of a profile can be
/// changed without the key, and must not direct a secret to another server.
struct SecretFile: Sendable {
  let profile: Profile
  let folder: ProfileFolder

  private var file: FileCredentialsStore {
    let place = folder.secret(of: profile.name, login: profile.login)
    return FileCredentialsStore(at: place, key: .file(folder.key))
  }

  /// Reads the credentials; creates no files.
  ///
  /// - Returns: the credentials; `nil` if there are none.
  /// - Throws: ``ProfileError/unreadable(_:folder:reason:)``; ``ProfileError/damaged(_:path:reason:)`` if they belong
  ///   to another profile, server or account than the readable part names.
  func read() async throws -> Credential? {
    do {
      guard let kept = try await file.current().credential else { return nil }
      // By bytes, because canonically equivalent texts are different names.
      guard case .password(let owner, let secret) = kept, owner.utf8.elementsEqual(profile.identity.utf8) else {
        throw ProfileError.damaged(
          profile.name, path: folder.profile(profile.name), reason: "its credentials belong to something else")
      }
      return profile.account.credential(secret)
    } catch let error as FileCredentialsStoreError {
      throw ProfileError.unreadable(profile.name, folder: folder.path, reason: error.description)
    }
  }

  /// Stores the secret on disk; creates a missing key.
  ///
  /// - Throws: ``ProfileError/notKept(_:folder:reason:)``; `CancellationError`
  func write(_ secret: Secret) async throws {
    do {
      try await file.set(.password(user: profile.identity, secret))
    } catch let error as FileCredentialsStoreError {
      throw ProfileError.notKept(profile.name, folder: folder.path, reason: error.description)
    }
  }
}

extension SignedIn {
  /// The authentication of a client, for the profile's server only.
  var authentication: Authentication {
    let source = MemoryCredentialsStore(credential)
    switch profile.account {
    case .bearer: return .bearer(source, origins: [profile.origin])
    case .basic: return .basic(source, origins: [profile.origin])
    case .digest:
      // A user of a server without TLS has accepted that others can read the traffic.
      let allowsMD5 = profile.origin.scheme == "http" ? true : nil
      return .digest(source, origins: [profile.origin], allowsMD5: allowsMD5)
    }
  }
}
