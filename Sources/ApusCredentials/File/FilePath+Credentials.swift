import ApusCore
import ApusFiles
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FilePath {
  /// The name of the write lock file.
  private var lockName: String { name + ".lock" }
  /// The name of the lease file.
  private var leaseName: String { name + ".lease" }
  /// The names of all files that credentials at this path need.
  var names: [String] { [name, Folder.draft(of: name), lockName, leaseName] }

  /// Opens the folder. Returns `nil` if the folder does not exist.
  func openFolder() throws(FileError) -> Folder? {
    guard isValid else { throw FileError(.notAFile, "opened", name) }
    return try Folder.existing(folder)
  }

  /// Opens the folder, and creates it first if it is missing, with mode 700.
  func makeFolder() throws(FileError) -> Folder {
    guard isValid else { throw FileError(.notAFile, "opened", name) }
    return try Folder.made(folder)
  }

  /// Acquires the lock for a write, which takes a few milliseconds.
  ///
  /// The folder is locked as well, so writes of all stores in the folder exclude each other.
  func lockForWrite(in folder: Folder, _ pause: FileLock.Pause) async throws -> FileLocks {
    try await FileLocks.acquire(lockName, in: folder, and: folder, pause)
  }

  /// Acquires the lease, which lasts as long as a refresh.
  ///
  /// An existing credentials file is locked as well. A write replaces that file, and with it the generation: a process
  /// that locks the new file refreshes other credentials.
  func lockForRefresh(in folder: Folder, _ pause: FileLock.Pause) async throws -> FileLocks {
    try await FileLocks(FileLock.acquire(leaseName, in: folder, pause)) {
      try await FileLock.acquireContent(name, in: folder, pause)
    }
  }
}

extension Clocks {
  /// Returns the function that waits between attempts at a lock.
  var pause: FileLock.Pause {
    { [clock] delay in try await clock.sleep(until: clock.now.advanced(by: delay)) }
  }
}

extension FilePath {
  private static let keyLength = 32

  /// Reads the key in the file.
  ///
  /// - Parameter isNew: whether a missing key may be created, because no file is sealed with it yet. When this returns,
  ///   the key is on the disk, even if another process has created it.
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

  /// Creates the key file atomically, unless another process has created it.
  private func makeKey(in folder: Folder) throws {
    // The name is unique: other processes may create the key at the same time, and an arbitrary folder has no lock.
    let draft = draftPrefix + String(UInt64.random(in: .min ... .max), radix: 16)
    let text = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString() + "\n"
    _ = try folder.make(draft, with: Array(text.utf8))
    defer { folder.remove(draft) }
    do throws(FileError) {
      // If the name is taken, another process has created the key, and may also have removed the draft.
      _ = try folder.link(draft, as: name)
    } catch {
      if case .nothing = try folder.kind(of: draft) { return }
      throw error
    }
  }

  /// Flushes the key to the disk, and removes drafts of processes that died, because a draft may be a second name of
  /// the key. A process that is still creating a key then uses the existing key.
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
