import ApusFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Copies of small entries that were read from their files lately. A pure value.
///
/// The copies are in two halves. When the newer half is full, the older one is dropped; a copy that is used moves to the
/// newer half.
struct RecentEntries: Sendable {
  /// An entry as its file was when it was read.
  struct Copy: Sendable {
    let head: EntryHead
    let content: Data?
    /// The name of the file.
    let name: String
    let identity: FileIdentity

    fileprivate var size: Int { max(Int(head.response.headSize) + (content?.count ?? 0), Int(identity.size)) }
  }

  /// The number of bytes of a half: 2 MiB.
  static let halfCapacity = 2 << 20

  private let halfCapacity: Int
  private var newer: [UInt64: Copy] = [:]
  private var older: [UInt64: Copy] = [:]
  private var size = 0

  /// - Parameter halfCapacity: the number of bytes of a half. Default: 2 MiB.
  init(halfCapacity: Int = Self.halfCapacity) {
    self.halfCapacity = halfCapacity
  }

  /// The number of copies.
  var count: Int { newer.count + older.count }

  /// Returns the copy of an entry.
  ///
  /// - Parameter id: the id of the entry in its index.
  mutating func use(_ id: UInt64) -> Copy? {
    if let copy = newer[id] { return copy }
    guard let copy = older.removeValue(forKey: id) else { return nil }
    insert(copy, id)
    return copy
  }

  /// Inserts the copy of an entry, or replaces it.
  mutating func insert(_ copy: Copy, _ id: UInt64) {
    remove(id)
    guard copy.size <= halfCapacity else { return }
    if size + copy.size > halfCapacity { (older, newer, size) = (newer, [:], 0) }
    newer[id] = copy
    size += copy.size
  }

  /// Removes the copy of an entry.
  mutating func remove(_ id: UInt64) {
    if let copy = newer.removeValue(forKey: id) { size -= copy.size }
    older[id] = nil
  }

  /// Removes all copies.
  mutating func removeAll() {
    (newer, older, size) = ([:], [:], 0)
  }
}
