import Apus
import Foundation

/// The profiles in a folder. Reading them changes nothing.
///
/// The readable part of a profile names the login whose credentials it uses. An interrupted login or logout therefore
/// never combines a profile with credentials for another server or user.
struct ProfileStore: Sendable {
  let folder: ProfileFolder
  /// Flushes the entries of a folder to the disk.
  var flush: @Sendable (String) throws -> Void = { try PrivateFile.flush($0) }

  /// Returns the store of the current user.
  ///
  /// - Throws: ``ProfileError/noFolder``
  static func current() throws(ProfileError) -> ProfileStore {
    ProfileStore(folder: try ProfileFolder(environment: ProcessInfo.processInfo.environment))
  }

  /// Returns the names of all profiles, sorted.
  ///
  /// - Throws: ``InputError``
  func names() throws(InputError) -> [ProfileName] {
    try PrivateFile.names(in: folder.profiles).compactMap { ProfileFolder.name(ofProfile: $0) }.sorted()
  }

  /// Returns the readable part of a profile.
  ///
  /// - Throws: ``ProfileError`` when it is missing or damaged; ``InputError``
  func profile(_ name: ProfileName) throws -> Profile {
    let path = folder.profile(name)
    guard PrivateFile.exists(path) || errno != ENOENT else { throw unknown(name) }
    do {
      return try Profile(name, json: try InputFile.contents(path))
    } catch let error as Profile.Unusable {
      throw ProfileError.damaged(name, path: path, reason: error.reason)
    }
  }

  /// Whether a profile has credentials, readable or not.
  func hasCredentials(of profile: Profile) -> Bool {
    PrivateFile.exists(folder.secret(of: profile.name, login: profile.login))
  }

  /// Returns a profile with its credentials.
  ///
  /// - Throws: ``ProfileError``, ``InputError``
  func signedIn(_ name: ProfileName) async throws -> SignedIn {
    var known = try profile(name)
    while true {
      do {
        return SignedIn(profile: known, credentials: try await credentials(of: known))
      } catch {
        // A concurrent login removes the previous credentials.
        let latest = try profile(name)
        guard latest.login != known.login else { throw error }
        known = latest
      }
    }
  }

  private func credentials(of profile: Profile) async throws -> SignedIn.Credentials {
    guard hasCredentials(of: profile) else { throw ProfileError.signedOut(profile.name, profile.origin) }
    guard let credentials = try await SecretFile(profile: profile, folder: folder).read() else {
      throw ProfileError.signedOut(profile.name, profile.origin)
    }
    return credentials
  }

  /// The message when there are no profiles.
  var emptiness: String { "apus: There are no profiles in \(folder.path). Create one with `apus login`.\n" }

  func unknown(_ name: ProfileName) -> ProfileError { .unknown(name, folder: folder.path) }
}

extension ProfileStore {
  /// Stores credentials. The readable part is replaced last and atomically, so an existing profile stays valid until
  /// then. Previous credentials are removed after the new profile is on disk. Concurrent logins and logouts wait for
  /// each other.
  ///
  /// - Parameters:
  ///   - profile: the profile.
  ///   - secret: the token or the password; the session with OAuth.
  ///   - tokens: tokens that are refreshed. Default: `nil`, none.
  /// - Returns: the error that prevented the removal of previous credentials, although the login is valid; otherwise
  ///   `nil`.
  /// - Throws: ``OutputError``, ``ProfileError``; `CancellationError`
  @discardableResult
  func signIn(
    _ profile: Profile, with secret: Secret, _ tokens: Tokens? = nil
  ) async throws -> (any Error)? {
    try PrivateFile.makeFolder(folder.path)
    let lock = try await FolderLock.acquired(folder.lock)
    defer { lock.release() }
    let place = folder.credentials(of: profile.name, login: profile.login)
    do {
      for path in [folder.profiles, folder.credentials, place] { try PrivateFile.makeFolder(path) }
      try await SecretFile(profile: profile, folder: folder).write(secret, tokens)
      // New folders must be on disk before the profile that refers to them.
      for path in [folder.credentials, folder.path] { try flush(path) }
      try PrivateFile.write(try profile.json(), to: folder.profile(profile.name))
    } catch {
      try? PrivateFile.removeFolder(place)
      throw error
    }
    do {
      try flush(folder.profiles)
      try removeCredentials(of: profile.name, except: profile.login)
      return nil
    } catch {
      return error
    }
  }

  /// Removes a profile. The credentials are removed first, so that no credentials are left without a profile.
  ///
  /// - Throws: ``ProfileError/unknown(_:folder:)``, ``OutputError``, ``InputError``; `CancellationError`
  func signOut(_ name: ProfileName) async throws {
    guard PrivateFile.exists(folder.path) else { throw unknown(name) }
    let lock = try await FolderLock.acquired(folder.lock)
    defer { lock.release() }
    try removeCredentials(of: name, except: nil)
    let path = folder.profile(name)
    guard PrivateFile.exists(path) else { throw unknown(name) }
    try PrivateFile.remove(path)
  }

  /// Returns the names of all profiles, including profiles with only credentials, left by an interrupted login.
  ///
  /// - Throws: ``InputError``
  func everyName() throws(InputError) -> [ProfileName] {
    let owners = try PrivateFile.names(in: folder.credentials).compactMap { ProfileFolder.owner(ofCredentials: $0) }
    return Set(try names() + owners.map { $0.name }).sorted()
  }

  /// Removes the credentials of previous logins, including interrupted ones.
  private func removeCredentials(of name: ProfileName, except login: String?) throws {
    for entry in try PrivateFile.names(in: folder.credentials) {
      guard let owner = ProfileFolder.owner(ofCredentials: entry), owner.name == name, owner.login != login else {
        continue
      }
      try PrivateFile.removeFolder("\(folder.credentials)/\(entry)")
    }
  }
}
