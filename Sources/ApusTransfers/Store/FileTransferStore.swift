import ApusFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A store of the records from which interrupted transfers continue, also in a new process. The records are files in a
/// folder that only its owner can access.
///
/// A record contains no credentials. A record may contain the URL of an unfinished upload, and some servers accept
/// bytes from any client that knows this URL. The folder has mode 700, and its files have mode 600. All processes that
/// use the store must see each other's `flock` locks.
public struct FileTransferStore: Sendable {
  let path: String
  /// Called with the name and the content of each written record. The content is `nil` if the record was removed.
  var didWrite: (@Sendable (_ name: String, _ content: Data?) -> Void)?
  private let queue = FileQueue("store")

  /// Creates a store.
  ///
  /// - Parameter path: the path of the folder. The folder and its parents are created when the first record is locked.
  public init(_ path: String) {
    self.path = path
  }

  /// Locks a record, so that no other transfer, in this or another process, uses it.
  ///
  /// - Parameter name: the name of the record: at most 64 letters, digits, `-` and `_`. The record need not exist.
  /// - Throws: ``TransferError``: `inUse` if another transfer has locked the record; `notAFile` if the folder belongs
  ///   to another user or is accessible to others; `invalidPath` for an invalid name.
  func lock(_ name: String) async throws(TransferError) -> LockedTransferRecord {
    guard Self.isName(name) else { throw TransferError(.invalidPath) }
    let (queue, path, didWrite) = (queue, path, didWrite)
    return try await queue.run {
      guard FilePath(path + "/record").isValid, !path.isEmpty else { throw TransferError(.invalidPath) }
      let folder = try Folder.made(path)
      try folder.checkIsPrivate()
      guard let lock = try folder.lockedRecord(name) else { throw TransferError(.inUse) }
      return LockedTransferRecord(folder: folder, recordName: name, lock: lock, queue: queue, didWrite: didWrite)
    }
  }

  /// The names of all records, in no particular order.
  var names: [String] {
    get async throws(TransferError) {
      let path = path
      return try await queue.run {
        guard let folder = try Folder.existing(path) else { return [] }
        try folder.checkIsPrivate()
        let files = try folder.names
        let names = { (suffix: String) in Set(files.compactMap { Self.name($0, suffix) }) }
        let records = names(Self.suffix)
        let left = names(Self.lockSuffix).subtracting(records).union(names(Folder.draft(of: Self.suffix)))
        for name in left { folder.removeRemains(ofRecord: name) }
        return Array(records)
      }
    }
  }

  /// Returns the name of the record to which a file belongs, or `nil` if the file has another suffix.
  private static func name(_ file: String, _ suffix: String) -> String? {
    guard file.hasSuffix(suffix) else { return nil }
    let name = String(file.dropLast(suffix.count))
    return isName(name) ? name : nil
  }

  private static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  fileprivate static let suffix = ".json"
  /// The suffix of lock files, which are separate files because a record is replaced by renaming another file over it.
  fileprivate static let lockSuffix = ".lock"
}

/// A record of a ``FileTransferStore``, locked by one transfer.
struct LockedTransferRecord: Sendable {
  fileprivate let folder: Folder
  fileprivate let recordName: String
  fileprivate let lock: FileLock
  fileprivate let queue: FileQueue
  fileprivate let didWrite: (@Sendable (_ name: String, _ content: Data?) -> Void)?

  private var name: String { recordName + FileTransferStore.suffix }

  /// Returns the content of the record, or `nil` if the record does not exist.
  func read() async throws(TransferError) -> Data? {
    try await queue.run { [folder, name] in try folder.record(name).map { Data($0) } }
  }

  /// Replaces the record atomically, or removes it. When this returns, the change survives a power loss.
  ///
  /// - Parameter content: at most 64 KiB; `nil` removes the record.
  func write(_ content: Data?) async throws(TransferError) {
    try await queue.run { [folder, name] in try folder.save(content.map { [UInt8]($0) }, as: name) }
    didWrite?(recordName, content)
  }

  /// Releases the lock. The record is not used afterwards.
  func release() async {
    _ = try? await queue.run { [folder, recordName, lock] in
      folder.unlockRecord(recordName, lock)
    }
  }
}

extension Folder {
  /// Acquires the lock of a record, and removes the leftovers of a process that died while it wrote the record. Returns
  /// `nil` if another transfer has the lock.
  fileprivate func lockedRecord(_ name: String) throws(FileError) -> FileLock? {
    let lock = try FileLock.acquireIfFree(name + FileTransferStore.lockSuffix, in: self)
    if lock != nil { remove(Folder.draft(of: name + FileTransferStore.suffix)) }
    return lock
  }

  /// Releases the lock of a record. Removes a lock file without a record, because such a file would stay in the folder
  /// forever.
  fileprivate func unlockRecord(_ name: String, _ lock: FileLock) {
    if (try? kind(of: name + FileTransferStore.suffix)) == .nothing { remove(name + FileTransferStore.lockSuffix) }
    lock.release()
  }

  /// Removes the leftovers of a process that died while it created, wrote or removed a record. Skips a locked record.
  fileprivate func removeRemains(ofRecord name: String) {
    guard let lock = try? lockedRecord(name) else { return }
    unlockRecord(name, lock)
  }
}
