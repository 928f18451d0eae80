import HTTPTypes

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The use of the dynamic table for a field of a request.
enum IndexingRule: UInt8, Sendable, Hashable {
  /// The field is added to the dynamic table (RFC 7541 §6.2.1).
  case indexed
  /// The field is not indexed, because its value changes from request to request and would evict other entries (RFC
  /// 7541 §6.2.2).
  case literal
  /// The field is secret and is never indexed, not even by intermediaries. An attacker could probe a dynamic table with
  /// guesses (RFC 7541 §7.1.3).
  case sensitive

  /// The number of bytes below which a cookie is never indexed, because a short value can be guessed (RFC 7541 §7.1.3).
  private static let shortCookie = 20

  /// Returns the indexing rule for a field.
  ///
  /// - Parameters:
  ///   - valueCount: the number of bytes in the field's value.
  ///   - name: the index and the rule of the field's name.
  @inline(__always)
  static func of(_ field: HTTPField, valueCount: Int, named name: SentNames.Name) -> IndexingRule {
    if name.rule == .sensitive || field.indexingStrategy == .disallow { return .sensitive }
    if name.index == SentNames.cookie, valueCount < shortCookie { return .sensitive }
    switch field.indexingStrategy {
    case .avoid: return .literal
    case .prefer: return .indexed
    default: return name.rule
    }
  }
}

/// A hash table of the field names that have an index in the static table or a specific indexing rule.
struct SentNames: Sendable {
  /// The static table index of a field name, or 0 for names outside the static table, and the rule of the name.
  struct Name: Sendable, Hashable {
    let index: UInt8
    let rule: IndexingRule
  }

  private struct Key: Sendable {
    let start: Int32
    let count: Int32
    let name: Name
  }

  static let shared = SentNames()
  /// The index of `cookie` in the static table.
  static let cookie = 32

  private let keys: [Key]
  private let spellings: [UInt8]
  /// A hash table with linear probing. A slot contains the index of a key plus one, or 0 if the slot is free.
  private let slots: [UInt8]

  private init() {
    var (keys, spellings, slots) = ([Key](), [UInt8](), [UInt8](repeating: 0, count: Self.slotCount))
    var seen: Set<String> = []
    let indexed = StaticFields.list.enumerated().map { ($0.element.name, UInt8($0.offset + 1)) }
    for (name, index) in indexed + (Self.literal + Self.sensitive).map({ ($0, 0) }) {
      guard seen.insert(name).inserted else { continue }
      let bytes = Array(name.utf8)
      let rule: IndexingRule =
        Self.sensitive.contains(name) ? .sensitive : Self.literal.contains(name) ? .literal : .indexed
      var slot = Self.slot(bytes.withUnsafeBytes { FieldHash.of($0) })
      while slots[slot] != 0 { slot = (slot + 1) & (Self.slotCount - 1) }
      keys.append(
        Key(start: Int32(spellings.count), count: Int32(bytes.count), name: Name(index: index, rule: rule)))
      spellings += bytes
      slots[slot] = UInt8(truncatingIfNeeded: keys.count)
    }
    (self.keys, self.spellings, self.slots) = (keys, spellings, slots)
  }

  /// Returns the index and the rule of a lower-case name.
  @inline(__always)
  func find(_ bytes: UnsafeRawBufferPointer, hash: UInt64) -> Name {
    var slot = Self.slot(hash)
    while slots[slot] != 0 {
      let key = keys[Int(slots[slot]) - 1]
      if isSame(bytes, key) { return key.name }
      slot = (slot + 1) & (Self.slotCount - 1)
    }
    return Name(index: 0, rule: .indexed)
  }

  @inline(__always)
  private func isSame(_ bytes: UnsafeRawBufferPointer, _ key: Key) -> Bool {
    guard Int(key.count) == bytes.count, let base = bytes.baseAddress else { return false }
    return spellings.withUnsafeBytes { spellings in
      spellings.baseAddress.map { memcmp($0 + Int(key.start), base, bytes.count) == 0 } ?? false
    }
  }

  /// The number of slots, more than twice the number of names. There are fewer than 256 names.
  private static let slotCount = 512

  @inline(__always)
  private static func slot(_ hash: UInt64) -> Int { Int(hash >> 40) & (slotCount - 1) }

  private static let sensitive = ["authorization", "proxy-authorization", "x-api-key", "x-amz-security-token"]

  private static let literal = [
    ":path", "age", "b3", "baggage", "content-digest", "content-length", "content-md5", "content-range", "date",
    "digest", "etag", "expires", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "last-event-id", "last-modified", "range", "repr-digest", "sentry-trace", "signature",
    "signature-input", "traceparent", "tracestate", "upload-length", "upload-offset", "x-amz-content-sha256",
    "x-amz-date", "x-amzn-trace-id", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid",
    "x-cloud-trace-context", "x-correlation-id", "x-request-id", "x-trace-id",
  ]
}

/// A hash of names and values. Resistance to chosen collisions is not necessary, because the app writes the requests.
enum FieldHash {
  @inline(__always)
  static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var hash = (seed ^ UInt64(truncatingIfNeeded: bytes.count)) &* factor
    var index = 0
    while index + 8 <= bytes.count {
      hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* factor
      hash ^= hash >> 32
      index += 8
    }
    var rest: UInt64 = 0
    while index < bytes.count {
      rest = rest << 8 | UInt64(bytes[index])
      index += 1
    }
    hash = (hash ^ rest) &* factor
    return hash ^ hash >> 32
  }
}
