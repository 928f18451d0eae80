#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Records of transfers as files of a folder, accessible to their owner only.
///
/// The folder has mode 700, its files 600. All processes that use it must see each other's `flock` locks.
public struct FileTransferStore: TransferStore {
  /// The path of the folder.
  public let path: String
  private let queue = FileQueue("store")

  /// Creates a store.
  ///
  /// - Parameter path: the path of the folder. It is created when the first record is locked, with the folders above
  ///   it.
  public init(_ path: String) {
    self.path = path
  }

  /// Takes the lock of a record.
  ///
  /// - Throws: ``TransferError``: `inUse` if another transfer has it; `notAFile` if the folder belongs to another user
  ///   or others can access it; `invalidPath` for a name that a record cannot have.
  public func lock(_ name: String) async throws(TransferError) -> any LockedTransferRecord {
    guard Self.isName(name) else { throw TransferError(.invalidPath) }
    let (queue, path) = (queue, path)
    return try await queue.run { () throws(TransferError) in
      let folder = try Folder.privateFolder(path)
      guard let lock = try folder.lockedRecord(name) else { throw TransferError(.inUse) }
      return RecordFile(folder: folder, recordName: name, lock: lock, queue: queue)
    }
  }

  /// The names of all records.
  ///
  /// - Throws: ``TransferError``
  public var names: [String] {
    get async throws(TransferError) {
      let path = path
      return try await queue.run { () throws(TransferError) in
        guard try Folder.exists(path) else { return [] }
        let folder = try Folder.privateFolder(path)
        let files = try folder.names
        let names = { (suffix: String) in Set(files.compactMap { Self.name($0, suffix) }) }
        let records = names(Self.suffix)
        let left = names(Self.lockSuffix).subtracting(records).union(names(FilePlace.draft(of: Self.suffix)))
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

  /// The maximum size of a record in bytes.
  static let limit = 64 << 10
  fileprivate static let suffix = ".json"
  /// The lock is a file of its own, because the record is replaced by renaming another file over it.
  fileprivate static let lockSuffix = ".lock"
}

/// A record in a file, and the open file that locks it.
private struct RecordFile: LockedTransferRecord {
  let folder: Folder
  let recordName: String
  let lock: Descriptor
  let queue: FileQueue

  private var name: String { recordName + FileTransferStore.suffix }

  func read() async throws(TransferError) -> Data? {
    try await queue.run { [folder, name] () throws(TransferError) in
      guard let opened = try folder.existing(name, O_RDONLY) else { return nil }
      let bytes = try opened.read(FileTransferStore.limit + 1, at: 0)
      // A longer file is not a record.
      return bytes.count <= FileTransferStore.limit ? Data(bytes) : nil
    }
  }

  func write(_ content: Data?) async throws(TransferError) {
    try await queue.run { [folder, name] () throws(TransferError) in
      if let content {
        try folder.replace(name, by: [UInt8](content))
      } else if try folder.look(at: name) != .nothing {
        folder.remove(name)
        try folder.descriptor.sync()
      }
    }
  }

  func release() async {
    _ = try? await queue.run { [folder, recordName, lock] () throws(TransferError) in
      folder.unlockRecord(recordName, lock)
    }
  }
}

extension Folder {
  /// Opens a folder that only its owner can access, and creates it if it is missing.
  ///
  /// - Throws: ``TransferError`` with the reason `notAFile` if the folder belongs to another user, or if others can
  ///   access it.
  static func privateFolder(_ path: String) throws(TransferError) -> Folder {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw TransferError(.invalidPath) }
    try make(path[...])
    let folder = try Folder(path)
    let status = try folder.descriptor.status()
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { throw TransferError(.notAFile) }
    return folder
  }

  static func exists(_ path: String) throws(TransferError) -> Bool {
    var status = stat()
    switch Descriptor.attempt({ stat(path, &status) }) {
    case .success: return true
    case .failure(let failure) where failure.number == ENOENT: return false
    case .failure(let failure): throw .system(failure.number)
    }
  }

  private static func make(_ path: Substring, makesParents: Bool = true) throws(TransferError) {
    switch Descriptor.attempt({ mkdir(String(path), 0o700) }) {
    case .success: return
    // Another process may create it at the same time.
    case .failure(let failure) where failure.number == EEXIST: return
    case .failure(let failure):
      guard failure.number == ENOENT, makesParents,
        let slash = path.utf8.dropLast().lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex
      else { throw .system(failure.number) }
      try make(path[..<slash])
      try make(path, makesParents: false)
    }
  }

  /// Opens a private file, creates it if it is missing, and takes its lock. Returns `nil` if the lock is taken.
  func lockedFile(_ name: String) throws(TransferError) -> Descriptor? {
    // A few rounds at most: each one means that another process has just removed the file.
    for _ in 0..<16 {
      var found = try existing(name)
      if found == nil { found = try make(name) }
      guard let opened = found else { continue }
      guard try opened.lock() else { return nil }
      if try has(opened, as: name) { return opened }
      opened.unlock()
    }
    return nil
  }

  /// Takes the lock of a record, and removes what a process has left that died while it wrote the record. Returns `nil`
  /// if the lock is taken.
  fileprivate func lockedRecord(_ name: String) throws(TransferError) -> Descriptor? {
    let lock = try lockedFile(name + FileTransferStore.lockSuffix)
    if lock != nil { remove(FilePlace.draft(of: name + FileTransferStore.suffix)) }
    return lock
  }

  /// Releases the lock of a record. A lock without a record would stay in the folder for ever.
  fileprivate func unlockRecord(_ name: String, _ lock: Descriptor) {
    if (try? look(at: name + FileTransferStore.suffix)) == .nothing { remove(name + FileTransferStore.lockSuffix) }
    lock.unlock()
  }

  /// Removes what a process has left that died while it created, wrote or removed a record, unless another has it.
  fileprivate func removeRemains(ofRecord name: String) {
    guard let lock = try? lockedRecord(name) else { return }
    unlockRecord(name, lock)
  }

  /// The names of the files in the folder.
  var names: [String] {
    get throws(TransferError) {
      // The stream owns its descriptor.
      let copy = try Descriptor.call { openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      guard let stream = fdopendir(copy) else {
        let number = errno
        close(copy)
        throw .system(number)
      }
      defer { closedir(stream) }
      var names: [String] = []
      while let entry = readdir(stream) {
        names.append(
          withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
      }
      return names
    }
  }
}
