import ApusFiles
import Synchronization

/// The incomplete file of a transfer and the record that describes it, beside the final file and locked against other
/// transfers.
///
/// All functions block and run on a ``FileQueue``.
final class PartialFile: Sendable {
  let place: FilePath
  let folder: Folder
  let descriptor: Descriptor
  private let lost = Atomic<Bool>(false)

  private init(_ place: FilePath, _ folder: Folder, _ descriptor: Descriptor) {
    (self.place, self.folder, self.descriptor) = (place, folder, descriptor)
  }

  /// Opens or creates the incomplete file of a path, and acquires its lock.
  ///
  /// - Parameter replacing: whether a file at the path may be replaced.
  /// - Throws: ``TransferError`` if the path cannot be written to, or if another transfer has the lock.
  static func open(_ path: String, replacing: Bool) throws(TransferError) -> PartialFile {
    let place = try FilePath.checked(path)
    return try TransferError.converting {
      let folder = try Folder(place.folder)
      do {
        try checkTarget(place, in: folder, replacing: replacing)
      } catch {
        removeRemains(of: path)
        throw error
      }
      // Another round is needed only if another process has just finished, so a few rounds suffice.
      for _ in 0..<16 {
        let opened = try folder.opened(place.partialName, isPrivate: false)
        if let file = try locked(opened, place, folder) { return file }
      }
      throw TransferError(.inUse)
    }
  }

  /// Opens the incomplete file of a path, if it exists, and acquires its lock.
  static func existing(_ path: String) throws(TransferError) -> PartialFile? {
    let place = try FilePath.checked(path)
    return try TransferError.converting {
      let folder = try Folder(place.folder)
      while true {
        if let opened = try folder.existing(place.partialName, for: .writing, isPrivate: false) {
          if let file = try locked(opened, place, folder) { return file }
        } else {
          // A process may have died after the file was complete. The lock of the incomplete file also protects its
          // record.
          let isLeft = { (name: String) in (try? folder.kind(of: name)).map { $0 != .nothing } ?? false }
          guard ([place.recordName] + place.momentaryNames).contains(where: isLeft) else { return nil }
          guard let made = try folder.make(place.partialName), let file = try locked(made, place, folder) else {
            continue
          }
          file.remove()
          file.release()
          return nil
        }
      }
    }
  }

  /// Removes the leftovers of a process that died after the file was complete. An incomplete file of another transfer
  /// stays.
  private static func removeRemains(of path: String) {
    if let other = try? existing(path) { other.release() }
  }

  /// Removes the incomplete file of a path and its record, if they exist.
  static func discard(_ path: String) async throws(TransferError) {
    try await FileQueue("discard").run {
      guard let file = try existing(path) else { return }
      file.remove()
      file.release()
    }
  }

  /// Returns whether a complete file has its final name: a process may have ended after it renamed the file and before
  /// it reported this. Removes the leftovers of that process.
  static func isPublished(_ path: String, _ published: FileVersion) async throws(TransferError) -> Bool {
    try await FileQueue("published").run {
      let place = try FilePath.checked(path)
      let folder = try Folder(place.folder)
      // Renaming changes neither the inode nor the modification time.
      guard try folder.kind(of: place.name) == .file,
        let file = try folder.existing(place.name, for: .reading, isPrivate: false),
        try FileVersion(of: file) == published
      else { return false }
      removeRemains(of: path)
      return true
    }
  }

  /// Acquires the lock, and removes the leftovers of a process that died while it wrote the record or determined
  /// permissions. Returns `nil` if the file has lost its name in the meantime.
  private static func locked(_ opened: Descriptor, _ place: FilePath, _ folder: Folder) throws -> PartialFile? {
    guard try opened.lock() else { throw TransferError(.inUse) }
    guard try folder.has(opened, as: place.partialName) else {
      opened.unlock()
      return nil
    }
    for name in place.momentaryNames { folder.remove(name) }
    if try opened.linkCount > 1 {
      // A process died after it had given the complete file its final name. The content of that file must not change,
      // either.
      folder.remove(place.partialName)
      opened.unlock()
      return nil
    }
    // The process's umask or the folder's default permissions may have changed the mode.
    try opened.setMode(0o600)
    return PartialFile(place, folder, opened)
  }

  private static func checkTarget(_ place: FilePath, in folder: Folder, replacing: Bool) throws {
    switch try folder.kind(of: place.name) {
    case .nothing: break
    case .file: if !replacing { throw TransferError(.fileExists) }
    case .folder: throw TransferError(.isFolder)
    case .special: throw TransferError(.notAFile)
    }
  }

  // MARK: Content

  var size: Int64 {
    get throws(TransferError) { try TransferError.converting { try descriptor.size } }
  }

  /// Writes all bytes at an offset.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(TransferError) {
    try TransferError.converting { try descriptor.write(bytes, at: offset) }
  }

  /// Reads up to `count` bytes at an offset. Returns fewer bytes only at the end of the file.
  func read(_ count: Int, at offset: Int64) throws(TransferError) -> [UInt8] {
    try TransferError.converting { try descriptor.read(count, at: offset) }
  }

  func truncate(to length: Int64) throws(TransferError) {
    try TransferError.converting { try descriptor.truncate(to: length) }
  }

  /// Empties the file and replaces the record. When this returns, the record is on the disk.
  ///
  /// The file is emptied first: a process that dies in between leaves the old record with no bytes, never the new
  /// record with old bytes.
  func restart(with record: [UInt8]?) throws(TransferError) {
    try truncate(to: 0)
    try save(record)
  }

  /// Replaces the record, or removes it. When this returns, the change is on the disk.
  func save(_ record: [UInt8]?) throws(TransferError) {
    try TransferError.converting { try folder.save(record, as: place.recordName) }
  }

  /// Reads the record. Returns `nil` if there is no record, or if the file is too large to be a record.
  func record() throws(TransferError) -> [UInt8]? {
    try TransferError.converting { try folder.record(place.recordName) }
  }

  /// Flushes the content to the disk.
  ///
  /// If a flush fails, the system has dropped written bytes, and reports the loss only once. The record is then
  /// removed, so that no later transfer relies on the content.
  func flush() throws(TransferError) {
    do throws(TransferError) {
      try TransferError.converting { try descriptor.sync() }
    } catch {
      lost.store(true, ordering: .relaxed)
      folder.remove(place.recordName)
      throw error
    }
  }

  /// Whether a flush has failed.
  var hasLostContent: Bool { lost.load(ordering: .relaxed) }

  // MARK: Ending

  /// Gives the complete file its final name, with the permissions of a new file. When this returns, the name is on the
  /// disk.
  ///
  /// - Throws: ``TransferError``; the incomplete file then keeps its old name.
  func publish(replacing: Bool) throws(TransferError) {
    try flush()
    try TransferError.converting {
      let mode = try folder.newFileMode(probe: place.probeName)
      // Checked again, because a transfer may take hours.
      try Self.checkTarget(place, in: folder, replacing: replacing)
      try descriptor.setMode(mode)
      do {
        if replacing {
          try folder.rename(place.partialName, to: place.name)
        } else if try !folder.renameExclusively(place.partialName, to: place.name) {
          throw TransferError(.fileExists)
        }
      } catch {
        // Renaming failed: the incomplete file stays private.
        try? descriptor.setMode(0o600)
        throw error
      }
      try folder.sync()
      folder.remove(place.recordName)
    }
  }

  /// Removes the incomplete file and its record.
  func remove() {
    folder.remove(place.recordName)
    folder.remove(place.partialName)
  }

  /// Removes the file if it has no content.
  func removeIfEmpty() {
    if (try? size) == 0 { folder.remove(place.partialName) }
  }

  /// Releases the lock.
  func release() {
    descriptor.unlock()
  }
}

extension Folder {
  /// The maximum size of a record in bytes.
  static var recordLimit: Int { 64 << 10 }

  /// Reads a record. Returns `nil` if there is no record, or if the file is too large to be a record.
  func record(_ name: String) throws(FileError) -> [UInt8]? {
    guard let file = try existing(name, for: .reading, isPrivate: false) else { return nil }
    let bytes = try file.read(Self.recordLimit + 1, at: 0)
    return bytes.count <= Self.recordLimit ? bytes : nil
  }

  /// Replaces a record, or removes it. When this returns, the change is on the disk.
  func save(_ record: [UInt8]?, as name: String) throws {
    if let record {
      try replace(name, by: record)
    } else if try kind(of: name) != .nothing {
      remove(name)
      try sync()
    }
  }
}
