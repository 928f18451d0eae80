import ApusCore
import ApusFiles
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FilePath {
  /// The name of the write lock's file.
  private var lockName: String { name + ".lock" }
  /// The name of the lease's file.
  private var leaseName: String { name + ".lease" }
  /// The names of all files that credentials at this path need.
  var names: [String] { [name, Folder.draft(of: name), lockName, leaseName] }

  /// Opens the folder; `nil`: it does not exist.
  func openFolder() throws(FileError) -> Folder? {
    guard isValid else { throw FileError(.notAFile, "opened", name) }
    return try Folder.existing(folder)
  }

  /// Opens the folder, and creates it first if it is missing, with mode 700.
  func makeFolder() throws(FileError) -> Folder {
    guard isValid else { throw FileError(.notAFile, "opened", name) }
    return try Folder.made(folder)
  }

  /// Takes the lock of a write, which lasts a few milliseconds.
  ///
  /// The folder is locked as well: writes of all stores in the folder exclude each other.
  func lockForWrite(in folder: Folder, _ pause: FileLock.Pause) async throws -> FileLocks {
    try await FileLocks.take(lockName, in: folder, and: folder, pause)
  }

  /// Takes the lease, which lasts as long as a refresh.
  ///
  /// The file with the credentials is locked as well, if there is one. A write replaces that file, and with it the
  /// generation: a process that locks the new file refreshes other credentials.
  func lockForRefresh(in folder: Folder, _ pause: FileLock.Pause) async throws -> FileLocks {
    try await FileLocks(FileLock.take(leaseName, in: folder, pause)) {
      try await FileLock.takeContent(name, in: folder, pause)
    }
  }
}

extension Clocks {
  /// Waits between attempts at a lock.
  var pause: FileLock.Pause {
    { [clock] delay in try await clock.sleep(until: clock.now.advanced(by: delay)) }
  }
}

extension FilePath {
  private static let keyLength = 32

  /// Reads the key in the file.
  ///
  /// - Parameter isNew: whether a missing key may be created, since no file is sealed with it yet. The key is then on
  ///   the disk when this returns, whichever process has created it.
  func key(isNew: Bool) throws -> SymmetricKey {
    if let folder = try openFolder(), let key = try storedKey(in: folder) {
      if isNew { try syncKey(in: folder) }
      return key
    }
    guard isNew else { throw CredentialsStoreError(.keyMissing, name) }
    let folder = try makeFolder()
    try makeKey(in: folder)
    guard let key = try storedKey(in: folder) else { throw CredentialsStoreError(.keyMissing, name) }
    try syncKey(in: folder)
    return key
  }

  private func storedKey(in folder: Folder) throws -> SymmetricKey? {
    guard let file = try folder.existing(name, for: .reading, isPrivate: true) else { return nil }
    let text = try file.bytes(upTo: 1 << 10).filter { $0 > UInt8(ascii: " ") }
    guard let bytes = Data(base64Encoded: String(decoding: text, as: UTF8.self)), bytes.count == Self.keyLength else {
      throw CredentialsStoreError(.malformedKey, name)
    }
    return SymmetricKey(data: bytes)
  }

  /// Creates the key file atomically, unless another process has been faster.
  private func makeKey(in folder: Folder) throws {
    // A unique name: other processes may do the same, and a key file in an arbitrary folder has no lock.
    let draft = draftPrefix + String(UInt64.random(in: .min ... .max), radix: 16)
    let text = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString() + "\n"
    _ = try folder.make(draft, with: Array(text.utf8))
    defer { folder.remove(draft) }
    do throws(FileError) {
      // If the name is taken, another process has created the key; that process may also have removed the draft.
      _ = try folder.link(draft, as: name)
    } catch {
      if case .nothing = try folder.look(at: draft) { return }
      throw error
    }
  }

  /// Flushes the key to the disk, and removes drafts of processes that died, since a draft may be a second name of
  /// the key. A process that is still creating a key finds the existing key instead.
  private func syncKey(in folder: Folder) throws {
    try folder.syncIfWritable()
    for draft in (try? folder.names) ?? [] where isDraft(draft) { folder.remove(draft) }
  }

  private var draftPrefix: String { "\(name).draft-" }

  private func isDraft(_ other: String) -> Bool {
    guard other.hasPrefix(draftPrefix) else { return false }
    let number = other.dropFirst(draftPrefix.count)
    return !number.isEmpty && number.allSatisfy(\.isHexDigit)
  }
}
