import Apus
import Foundation

/// Reads the profiles of a folder, and leaves nothing there by that.
///
/// The readable part of a profile names the sign-in whose credentials are its own. So whatever happens between the
/// steps of signing in or out, credentials are never taken for those of another server or user.
struct ProfileStore: Sendable {
  let folder: ProfileFolder
  /// Returns when the names in a folder are on the disk.
  var settle: @Sendable (String) throws -> Void = { try PrivateFile.settle($0) }

  /// Those of the person who runs the tool.
  ///
  /// - Throws: ``ProfileError/noFolder``
  static func current() throws(ProfileError) -> ProfileStore {
    ProfileStore(folder: try ProfileFolder(environment: ProcessInfo.processInfo.environment))
  }

  /// All profiles, in the order of their names.
  ///
  /// - Throws: ``InputError``
  func names() throws(InputError) -> [ProfileName] {
    try PrivateFile.names(in: folder.profiles).compactMap { ProfileFolder.name(ofProfile: $0) }.sorted()
  }

  /// The readable part of a profile.
  ///
  /// - Throws: ``ProfileError`` when it is not there or damaged; ``InputError``
  func profile(_ name: ProfileName) throws -> Profile {
    let path = folder.profile(name)
    guard PrivateFile.exists(path) || errno != ENOENT else { throw unknown(name) }
    do {
      return try Profile(name, json: try InputFile.contents(path))
    } catch let error as Profile.Unusable {
      throw ProfileError.damaged(name, path: path, reason: error.reason)
    }
  }

  /// Whether there are credentials for a profile, which need not be readable.
  func hasCredentials(of profile: Profile) -> Bool {
    PrivateFile.exists(folder.secret(of: profile.name, login: profile.login))
  }

  /// A profile with its credentials.
  ///
  /// - Throws: ``ProfileError``, ``InputError``
  func signedIn(_ name: ProfileName) async throws -> SignedIn {
    var known = try profile(name)
    while true {
      do {
        return SignedIn(profile: known, credential: try await credential(of: known))
      } catch {
        // Who signs in anew removes the credentials that were there.
        let latest = try profile(name)
        guard latest.login != known.login else { throw error }
        known = latest
      }
    }
  }

  private func credential(of profile: Profile) async throws -> Credential {
    guard hasCredentials(of: profile) else { throw ProfileError.signedOut(profile.name, profile.origin) }
    guard let credential = try await KeptSecrets(profile: profile, folder: folder).read() else {
      throw ProfileError.signedOut(profile.name, profile.origin)
    }
    return credential
  }

  /// What is said where there is no profile at all.
  var emptiness: String { "apus: There is no profile in \(folder.path): `apus login` makes one.\n" }

  func unknown(_ name: ProfileName) -> ProfileError { .unknown(name, folder: folder.path) }
}
