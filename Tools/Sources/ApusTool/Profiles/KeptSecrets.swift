import Apus
import ApusCredentials

/// The credentials of one sign-in, in an encrypted file. This file alone knows what the library has for that.
///
/// What is sealed says whose it is, in the place of a user's name: the readable part of a profile can be changed
/// without the key, and must not lead a secret to another server.
struct KeptSecrets: Sendable {
  let profile: Profile
  let folder: ProfileFolder

  private var file: FileCredentials {
    let place = folder.secret(of: profile.name, login: profile.login)
    return FileCredentials(at: place, key: .file(folder.key))
  }

  /// Reads them, and makes nothing where something is missing.
  ///
  /// - Returns: `nil` where there are none.
  /// - Throws: ``ProfileError/unreadable(_:folder:reason:)``; ``ProfileError/damaged(_:path:reason:)`` where they are
  ///   of another profile, server or account than the readable part says.
  func read() async throws -> Credential? {
    do {
      guard let kept = try await file.current().credential else { return nil }
      // Byte by byte: texts that look the same are not.
      guard case .password(let owner, let secret) = kept, owner.utf8.elementsEqual(profile.identity.utf8) else {
        throw ProfileError.damaged(
          profile.name, path: folder.profile(profile.name), reason: "its credentials are for something else")
      }
      return profile.account.credential(secret)
    } catch let error as FileCredentialsError {
      throw ProfileError.unreadable(profile.name, folder: folder.path, reason: error.description)
    }
  }

  /// Keeps them; when it returns they are on the disk. The key is made where it is missing.
  ///
  /// - Throws: ``ProfileError/notKept(_:folder:reason:)``; `CancellationError`
  func write(_ secret: Secret) async throws {
    do {
      try await file.set(.password(user: profile.identity, secret))
    } catch let error as FileCredentialsError {
      throw ProfileError.notKept(profile.name, folder: folder.path, reason: error.description)
    }
  }
}

extension SignedIn {
  /// As clients take it: for the profile's server alone, whatever the environment is.
  var authentication: Authentication {
    let source = MemoryCredentials(credential)
    switch profile.account {
    case .bearer: return .bearer(source, origins: [profile.origin])
    case .basic: return .basic(source, origins: [profile.origin])
    case .digest:
      // Who signed in to a server without TLS allowed that others read along.
      let allowsMD5 = profile.origin.scheme == "http" ? true : nil
      return .digest(source, origins: [profile.origin], allowsMD5: allowsMD5)
    }
  }
}
