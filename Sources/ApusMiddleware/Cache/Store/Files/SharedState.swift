/// What the processes that use a folder share besides its entries.
struct SharedState: Hashable, Sendable {
  /// The number of bytes of all entries. Too large after a process was killed, until the next process counts.
  var usage: Int64 = 0
  /// The number of times that entries were added or removed.
  var changes: UInt64 = 0
  /// The generation of the last invalidation or removal; see ``CacheInvalidations``.
  var generation: UInt64 = 0
  /// The number of invalidations of groups and removals of accounts that were recorded.
  var records: UInt64 = 0
  var floors = CacheInvalidations.Floors()

  /// The number of bytes in the file.
  static let size = 80

  /// Returns the bytes with a check.
  func encoded(_ key: DigestKey) -> [UInt8] {
    var writer = ByteWriter(capacity: Self.size)
    writer.write(usage)
    for number in [changes, generation, records, floors.groups, floors.accounts, floors.everything] {
      writer.write(number)
    }
    writer.write(0 as UInt64)
    writer.write(writer.bytes.withUnsafeBytes { KeyedHasher.digest($0, key) })
    return writer.bytes
  }

  init() {}

  /// Reads the bytes. `nil`: they are damaged.
  init?(_ bytes: [UInt8], _ key: DigestKey) {
    guard bytes.count == Self.size else { return nil }
    let state = bytes.withUnsafeBytes { bytes -> SharedState? in
      var reader = ByteReader(bytes)
      var state = SharedState()
      do throws(ByteReader.Failure) {
        state.usage = try reader.number()
        state.changes = try reader.number()
        state.generation = try reader.number()
        state.records = try reader.number()
        state.floors.groups = try reader.number()
        state.floors.accounts = try reader.number()
        state.floors.everything = try reader.number()
        _ = try reader.number(UInt64.self)
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<(Self.size - 16)])
        return try reader.digest() == KeyedHasher.digest(checked, key) ? state : nil
      } catch {
        return nil
      }
    }
    guard let state else { return nil }
    self = state
  }
}

/// An invalidation of a group, or a removal of an account, as a record of fixed size.
struct SharedRecord: Hashable, Sendable {
  let change: CacheInvalidations.Change
  let generation: UInt64

  static let size = 32
  /// The number of records in a file. A new record overwrites the oldest.
  static let capacity: UInt64 = 1024

  private static let accountBit: UInt64 = 1 << 63

  init(_ change: CacheInvalidations.Change, at generation: UInt64) {
    (self.change, self.generation) = (change, generation)
  }

  /// Returns the bytes with a check. `nil`: a change that has no record, because it raises a floor.
  ///
  /// - Parameter number: the number of the record, which tells it apart from the record that it overwrites.
  func encoded(_ number: UInt64, _ key: DigestKey) -> [UInt8]? {
    let (digest, kind): (KeyedDigest, UInt64)
    switch change {
    case .group(let group): (digest, kind) = (group, 0)
    case .account(let tag): (digest, kind) = (KeyedDigest(first: tag, second: 0), Self.accountBit)
    case .accounts, .everything: return nil
    }
    var writer = ByteWriter(capacity: Self.size)
    writer.write(digest)
    writer.write(kind | generation)
    writer.write(Self.check(digest, kind | generation, number, key))
    return writer.bytes
  }

  /// Reads the bytes. `nil`: they are damaged, or those of another record.
  init?(_ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ key: DigestKey) {
    var reader = ByteReader(bytes)
    guard let digest = try? reader.digest(), let word = try? reader.number(UInt64.self),
      let check = try? reader.number(UInt64.self), check == Self.check(digest, word, number, key)
    else { return nil }
    generation = word & ~Self.accountBit
    change = word & Self.accountBit == 0 ? .group(digest) : .account(digest.first)
  }

  private static func check(_ digest: KeyedDigest, _ word: UInt64, _ number: UInt64, _ key: DigestKey) -> UInt64 {
    var hasher = KeyedHasher(key)
    hasher.combine(digest)
    hasher.combine(word)
    hasher.combine(number)
    return hasher.finish().first
  }
}
