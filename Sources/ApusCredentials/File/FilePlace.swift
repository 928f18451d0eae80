import Crypto

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The path of a file, as its folder and its name.
struct FilePlace: Sendable, Hashable {
  /// The status of a path, determined without opening the file.
  enum Look: Hashable {
    case file(FileIdentity)
    case nothing
    /// The system call failed.
    case unknown
  }

  let path: String
  let folder: String
  let name: String

  /// The name of the write lock's file.
  var lockName: String { name + ".lock" }
  /// The name of the lease's file.
  var leaseName: String { name + ".lease" }
  /// The names of all files that credentials at this path need.
  var names: [String] { [name, Folder.draft(of: name), lockName, leaseName] }

  init(_ path: String) {
    self.path = path
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = slash == path.startIndex ? "/" : String(path[..<slash])
      name = String(path[path.utf8.index(after: slash)...])
    } else {
      folder = "."
      name = path
    }
  }

  /// Looks at the file with one system call.
  func look() -> Look {
    var status = stat()
    if lstat(path, &status) == 0 { return .file(FileIdentity(status)) }
    return errno == ENOENT ? .nothing : .unknown
  }

  /// Opens the folder; `nil`: it does not exist.
  func openFolder() throws(FileCredentialsStoreError) -> Folder? {
    guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
      throw FileCredentialsStoreError(.notAFile, name)
    }
    do throws(FileCredentialsStoreError) {
      return try Folder(folder)
    } catch {
      guard error.errno == ENOENT else { throw error }
      return nil
    }
  }

  /// Opens the folder, and creates it first if it is missing, with mode 700.
  func makeFolder() throws(FileCredentialsStoreError) -> Folder {
    if let folder = try openFolder() { return folder }
    try Self.make(folder)
    return try Folder(folder)
  }

  /// Creates a folder and its missing parents. When this returns, they are on the disk.
  private static func make(_ path: String) throws(FileCredentialsStoreError) {
    let place = FilePlace(path)
    func makeLast() throws(FileCredentialsStoreError) {
      do throws(FileCredentialsStoreError) {
        try Descriptor.call("made", place.name) { mkdir(path, 0o700) }
      } catch {
        // Another process was quicker.
        if error.errno != EEXIST { throw error }
      }
      try settleParent(of: place)
    }
    do throws(FileCredentialsStoreError) {
      try makeLast()
    } catch {
      guard error.errno == ENOENT, place.folder != path else { throw error }
      try make(place.folder)
      try makeLast()
    }
  }

  /// Flushes the parent folder; otherwise a new folder would not survive a power failure.
  private static func settleParent(of place: FilePlace) throws(FileCredentialsStoreError) {
    let parent: Folder
    do throws(FileCredentialsStoreError) {
      parent = try Folder(place.folder)
    } catch {
      // A folder that cannot be read can still be written to.
      if error.errno == EACCES { return }
      throw error
    }
    try parent.settleWhereItCan()
  }
}

extension FilePlace {
  private static let keyLength = 32

  /// Reads the key in the file.
  ///
  /// - Parameter isNew: whether a missing key may be created, since no file is sealed with it yet. The key is then on
  ///   the disk when this returns, whichever process has created it.
  func key(isNew: Bool) throws(FileCredentialsStoreError) -> SymmetricKey {
    if let folder = try openFolder(), let key = try keptKey(in: folder) {
      if isNew { try settleKey(in: folder) }
      return key
    }
    guard isNew else { throw FileCredentialsStoreError(.keyMissing, name) }
    let folder = try makeFolder()
    try makeKey(in: folder)
    guard let key = try keptKey(in: folder) else { throw FileCredentialsStoreError(.keyMissing, name) }
    try settleKey(in: folder)
    return key
  }

  private func keptKey(in folder: Folder) throws(FileCredentialsStoreError) -> SymmetricKey? {
    guard let content = try folder.content(of: name, upTo: 1 << 10) else { return nil }
    let text = content.bytes.filter { $0 > UInt8(ascii: " ") }
    guard let bytes = Data(base64Encoded: String(decoding: text, as: UTF8.self)), bytes.count == Self.keyLength else {
      throw FileCredentialsStoreError(.malformedKey, name)
    }
    return SymmetricKey(data: bytes)
  }

  /// Creates the key file atomically, unless another process has been faster.
  private func makeKey(in folder: Folder) throws(FileCredentialsStoreError) {
    // A unique name: other processes may do the same, and a key file in an arbitrary folder has no lock.
    let draft = draftPrefix + String(UInt64.random(in: .min ... .max), radix: 16)
    let made = try folder.make(draft)
    defer { folder.remove(draft) }
    let text = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString() + "\n"
    try made.keep(Array(text.utf8), draft)
    // If the name is taken, another process has created the key; that process may also have removed the draft.
    _ = try folder.link(draft, as: name)
  }

  /// Flushes the key to the disk, and removes drafts of processes that died, since a draft may be a second name of
  /// the key. A process that is still creating a key finds the existing key instead.
  private func settleKey(in folder: Folder) throws(FileCredentialsStoreError) {
    try folder.settleWhereItCan()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder)) ?? []
    for draft in names where isDraft(draft) { folder.remove(draft) }
  }

  private var draftPrefix: String { "\(name).draft-" }

  private func isDraft(_ other: String) -> Bool {
    guard other.hasPrefix(draftPrefix) else { return false }
    let number = other.dropFirst(draftPrefix.count)
    return !number.isEmpty && number.allSatisfy(\.isHexDigit)
  }
}
