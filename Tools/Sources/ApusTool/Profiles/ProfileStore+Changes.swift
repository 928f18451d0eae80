import Apus
import Foundation

extension ProfileStore {
  /// Keeps credentials. The readable part comes last and in one step, so a profile of that name stays what it was until
  /// it is the new one, and credentials that were there go once that is on the disk. Whoever signs in or out at the
  /// same time waits.
  ///
  /// - Returns: what kept earlier credentials from being removed: all the same somebody is signed in. `nil`: nothing.
  /// - Throws: ``OutputError``, ``ProfileError``; `CancellationError`
  @discardableResult
  func signIn(_ profile: Profile, with secret: Secret) async throws -> (any Error)? {
    try PrivateFile.makeFolder(folder.path)
    let lock = try await FolderLock.taken(folder.lock)
    defer { lock.release() }
    let place = folder.credentials(of: profile.name, login: profile.login)
    do {
      for path in [folder.profiles, folder.credentials, place] { try PrivateFile.makeFolder(path) }
      try await KeptSecrets(profile: profile, folder: folder).write(secret)
      // The names of new folders are on the disk before there is a profile that tells of what is in them.
      for path in [folder.credentials, folder.path] { try settle(path) }
      try PrivateFile.write(try profile.json(), to: folder.profile(profile.name))
    } catch {
      try? PrivateFile.removeFolder(place)
      throw error
    }
    do {
      try settle(folder.profiles)
      try removeCredentials(of: profile.name, except: profile.login)
      return nil
    } catch {
      return error
    }
  }

  /// Removes a profile: the credentials first, so that none is left which no profile tells of.
  ///
  /// - Throws: ``ProfileError/unknown(_:folder:)``, ``OutputError``, ``InputError``; `CancellationError`
  func signOut(_ name: ProfileName) async throws {
    guard PrivateFile.exists(folder.path) else { throw unknown(name) }
    let lock = try await FolderLock.taken(folder.lock)
    defer { lock.release() }
    try removeCredentials(of: name, except: nil)
    let path = folder.profile(name)
    guard PrivateFile.exists(path) else { throw unknown(name) }
    try PrivateFile.remove(path)
  }

  /// All profiles, and those of which only credentials are there, since signing in was interrupted.
  ///
  /// - Throws: ``InputError``
  func everyName() throws(InputError) -> [ProfileName] {
    let owners = try PrivateFile.names(in: folder.credentials).compactMap { ProfileFolder.owner(ofCredentials: $0) }
    return Set(try names() + owners.map { $0.name }).sorted()
  }

  /// Removes the credentials of earlier sign-ins, also of those that were interrupted.
  private func removeCredentials(of name: ProfileName, except login: String?) throws {
    for entry in try PrivateFile.names(in: folder.credentials) {
      guard let owner = ProfileFolder.owner(ofCredentials: entry), owner.name == name, owner.login != login else {
        continue
      }
      try PrivateFile.removeFolder("\(folder.credentials)/\(entry)")
    }
  }
}
