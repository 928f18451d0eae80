/// The name of the file of an entry: its key in hexadecimal digits, a serial number, and a check by the folder's key.
///
/// The check tells apart entries of this folder from other files, and from entries of an earlier key of the folder.
struct EntryName: Hashable, Sendable {
  let key: CacheKey
  /// A random number.
  let serial: UInt64

  /// The number of bytes of a name.
  private static let length = 32 + 1 + 16 + 1 + 32 + 1 + 16 + 1 + 8
  private static let separator = UInt8(ascii: "-")

  /// Returns the name of the file.
  func text(_ key: DigestKey) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.length)
    func append(_ number: UInt64, _ digits: Int = 16) {
      for digit in (0..<digits).reversed() {
        let value = UInt8(truncatingIfNeeded: number >> (UInt64(digit) * 4)) & 0xF
        bytes.append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value)
      }
    }
    append(self.key.target.first)
    append(self.key.target.second)
    bytes.append(Self.separator)
    if let account = self.key.account {
      append(account)
    } else {
      bytes.append(contentsOf: repeatElement(Self.separator, count: 16))
    }
    bytes.append(Self.separator)
    append(self.key.session.first)
    append(self.key.session.second)
    bytes.append(Self.separator)
    append(serial)
    bytes.append(Self.separator)
    append(check(key), 8)
    return String(decoding: bytes, as: UTF8.self)
  }

  private init(key: CacheKey, serial: UInt64) {
    (self.key, self.serial) = (key, serial)
  }

  /// Creates the name of a new entry.
  static func new(_ key: CacheKey) -> EntryName {
    EntryName(key: key, serial: .random(in: 0 ... .max))
  }

  /// Creates the name of an entry of an index.
  static func known(_ key: CacheKey, serial: UInt64) -> EntryName {
    EntryName(key: key, serial: serial)
  }

  /// The part of the digest of all other parts that the name contains.
  private func check(_ key: DigestKey) -> UInt64 {
    var hasher = KeyedHasher(key)
    hasher.combine(self.key.target)
    hasher.combine(self.key.session)
    hasher.combine(self.key.account ?? 0)
    hasher.combine(UInt64(self.key.account == nil ? 0 : 1))
    hasher.combine(serial)
    return hasher.finish().first & 0xFFFF_FFFF
  }

  /// The kind of a file in the folder, by its name.
  enum Kind {
    case entry(EntryName)
    /// An entry of an earlier key of the folder, or with a changed name.
    case unreadable
    /// No entry.
    case other
  }

  /// Returns what a file is.
  static func kind(of name: UnsafeRawBufferPointer, _ key: DigestKey) -> Kind {
    guard name.count == length else { return .other }
    var reader = Reader(name)
    guard let target = reader.digest(), reader.skipSeparator() else { return .other }
    let isWithoutAccount = reader.isAtSeparator
    let account = isWithoutAccount ? reader.separators(16) : reader.number()
    guard let account, reader.skipSeparator(), let session = reader.digest(), reader.skipSeparator(),
      let serial = reader.number(), reader.skipSeparator(), let check = reader.number(8)
    else { return .other }
    let entryKey = CacheKey(target: target, account: isWithoutAccount ? nil : account, session: session)
    let entry = EntryName(key: entryKey, serial: serial)
    return entry.check(key) == check ? .entry(entry) : .unreadable
  }
}

extension EntryName {
  /// Reads hexadecimal digits in lower case.
  private struct Reader {
    private let name: UnsafeRawBufferPointer
    private var position = 0

    init(_ name: UnsafeRawBufferPointer) {
      self.name = name
    }

    var isAtSeparator: Bool { position < name.count && name[position] == EntryName.separator }

    mutating func skipSeparator() -> Bool {
      defer { position += 1 }
      return isAtSeparator
    }

    /// Skips separators. Returns `nil` if there are fewer.
    mutating func separators(_ count: Int) -> UInt64? {
      for _ in 0..<count where !skipSeparator() { return nil }
      return 0
    }

    mutating func digest() -> KeyedDigest? {
      guard let first = number(), let second = number() else { return nil }
      return KeyedDigest(first: first, second: second)
    }

    mutating func number(_ digits: Int = 16) -> UInt64? {
      guard position + digits <= name.count else { return nil }
      var number: UInt64 = 0
      for byte in name[position..<position + digits] {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
        default: return nil
        }
      }
      position += digits
      return number
    }
  }
}
