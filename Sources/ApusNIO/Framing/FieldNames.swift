import HTTPTypes

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A table of common response field names, looked up by their bytes without creating, lower-casing or checking a
/// string.
///
/// The table has the capitalized and the lower-case spelling of each name, so that a name is reported as the server
/// wrote it. For every other spelling a string is created.
struct FieldNames: Sendable {
  /// The meaning of a field for the framing of its message.
  enum Role: UInt8, Sendable {
    case other
    case contentLength
    case transferEncoding
    case connection
  }

  /// The position of a spelling in ``spellings``, and its role. Contains no references, so lookups retain nothing.
  private struct Key: Sendable {
    let start: Int32
    let length: Int32
    let role: Role
  }

  static let shared = FieldNames()

  private let names: [HTTPField.Name]
  private let keys: [Key]
  private let spellings: [UInt8]
  /// A hash table of key indices plus one, with linear probing; 0 marks a free slot.
  private let slots: [UInt16]

  private init() {
    var names: [HTTPField.Name] = []
    var keys: [Key] = []
    var spellings: [UInt8] = []
    var slots = [UInt16](repeating: 0, count: Self.slotCount)
    for text in Self.common {
      guard let capitalized = HTTPField.Name(text), let lowercased = HTTPField.Name(capitalized.canonicalName) else {
        continue
      }
      for name in [capitalized, lowercased] {
        let bytes = Array(name.rawName.utf8)
        var slot = bytes.withUnsafeBytes { Self.hash($0) }
        while slots[slot] != 0 { slot = (slot + 1) & (Self.slotCount - 1) }
        names.append(name)
        keys.append(
          Key(start: Int32(spellings.count), length: Int32(bytes.count), role: Self.role(of: name.canonicalName)))
        spellings += bytes
        slots[slot] = UInt16(names.count)
      }
    }
    (self.names, self.keys, self.spellings, self.slots) = (names, keys, spellings, slots)
  }

  /// Returns the name and its role; `nil` if the bytes are not a token.
  func find(_ bytes: UnsafeRawBufferPointer) -> (name: HTTPField.Name, role: Role)? {
    guard !bytes.isEmpty else { return nil }
    var slot = Self.hash(bytes)
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if isSame(bytes, keys[index]) { return (names[index], keys[index].role) }
      slot = (slot + 1) & (Self.slotCount - 1)
    }
    for byte in bytes where !Octet.isToken(byte) { return nil }
    guard let name = HTTPField.Name(Octet.string(bytes)) else { return nil }
    return (name, Self.role(of: name.canonicalName))
  }

  private static let slotCount = 1024

  /// Returns the slot of bytes. The bytes must not be empty.
  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    let first = UInt32(bytes[0])
    let middle = UInt32(bytes[bytes.count / 2])
    let last = UInt32(bytes[bytes.count - 1])
    let mixed =
      first &* 0x9E37_79B1 ^ middle &* 0x85EB_CA77 ^ last &* 0xC2B2_AE3D
      ^ UInt32(truncatingIfNeeded: bytes.count) &* 0x27D4_EB2F
    return Int(mixed >> 22)
  }

  @inline(__always)
  private func isSame(_ bytes: UnsafeRawBufferPointer, _ key: Key) -> Bool {
    guard Int(key.length) == bytes.count, let base = bytes.baseAddress else { return false }
    return spellings.withUnsafeBytes { spellings in
      spellings.baseAddress.map { memcmp($0 + Int(key.start), base, bytes.count) == 0 } ?? false
    }
  }

  private static func role(of name: String) -> Role {
    switch name {
    case "content-length": .contentLength
    case "transfer-encoding": .transferEncoding
    case "connection": .connection
    default: .other
    }
  }

  private static let common = [
    "Accept-CH", "Accept-Patch", "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
    "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
    "Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Cache-Control", "CF-Cache-Status", "CF-RAY", "Connection",
    "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
    "Content-Location", "Content-Range", "Content-Security-Policy", "Content-Type", "Cross-Origin-Embedder-Policy",
    "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Date", "Deprecation", "ETag", "Expires",
    "Idempotency-Key", "Keep-Alive", "Last-Modified", "Link", "Location", "NEL", "Origin-Agent-Cluster", "P3P",
    "Permissions-Policy", "Pragma", "Proxy-Authenticate", "RateLimit", "RateLimit-Policy", "Referrer-Policy",
    "Report-To", "Reporting-Endpoints", "Repr-Digest", "Retry-After", "Server", "Server-Timing", "Set-Cookie",
    "Strict-Transport-Security", "Sunset", "Timing-Allow-Origin", "Trailer", "Transfer-Encoding", "Upgrade", "Vary",
    "Via", "Warning", "WWW-Authenticate", "X-Amz-Id-2", "X-Amz-Request-Id", "X-Amzn-RequestId", "X-Amzn-Trace-Id",
    "X-Cache", "X-Cache-Hits", "X-Content-Type-Options", "X-Correlation-Id", "X-DNS-Prefetch-Control",
    "X-Download-Options", "X-Frame-Options", "X-Permitted-Cross-Domain-Policies", "X-Powered-By",
    "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "X-Response-Time",
    "X-Robots-Tag", "X-Runtime", "X-Served-By", "X-Timer", "X-Trace-Id", "X-XSS-Protection",
  ]
}
