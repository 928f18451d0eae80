import HTTPTypes

/// A section of field lines, and the message framing that these lines declare (RFC 9112 §5, §6).
///
/// Everything is checked before it becomes an `HTTPField`, which silently replaces forbidden bytes and traps on
/// very large counts. A value is converted to a string once; a common name needs no conversion.
struct FieldSection: Sendable {
  /// The framing and persistence that the fields declare.
  struct Facts: Sendable, Equatable {
    fileprivate(set) var contentLength: Int64?
    fileprivate(set) var isChunked = false
    /// Whether `Connection` has the option `close`.
    fileprivate(set) var closes = false
    /// Whether `Connection` has the option `keep-alive`.
    fileprivate(set) var keepsAlive = false
    /// The first fault in a framing field. Ignored in responses whose framing these fields do not define.
    fileprivate(set) var fault: FramingError?
  }

  private var fields = HTTPFields()
  private(set) var facts = Facts()

  init() {
    fields.reserveCapacity(16)
  }

  /// Adds a field line, without its line end.
  mutating func add(_ line: UnsafeRawBufferPointer) throws(FramingError) {
    var colon = 0
    while colon < line.count, line[colon] != Octet.colon { colon += 1 }
    guard colon < line.count,
      let (name, role) = FieldNames.shared.find(UnsafeRawBufferPointer(rebasing: line[..<colon]))
    else { throw Self.malformedName(line) }
    let value = Octet.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
    let text = Octet.text(value)
    guard text != .forbidden else {
      throw FramingError(.malformedFieldValue, "the value of \(name.canonicalName) contains a control character")
    }
    switch role {
    case .other: break
    case .contentLength:
      do throws(FramingError) { return try addContentLength(value, name) } catch {
        facts.fault = facts.fault ?? error
      }
    case .transferEncoding:
      do throws(FramingError) { try takeTransferEncoding(value) } catch { facts.fault = facts.fault ?? error }
    case .connection: takeConnection(value)
    }
    fields.append(Self.field(name, value, text))
  }

  /// Returns the fields and resets the section.
  mutating func finish() -> HTTPFields {
    let all = fields
    fields = HTTPFields()
    // The next response on a connection usually has as many fields.
    fields.reserveCapacity(all.count)
    facts = Facts()
    return all
  }

  private static func field(
    _ name: HTTPField.Name, _ value: UnsafeRawBufferPointer, _ text: Octet.Text
  ) -> HTTPField {
    if text == .ascii { return HTTPField(name: name, value: Octet.string(value)) }
    // Creates the field from bytes, so that values that are not UTF-8 are preserved.
    return HTTPField(name: name, value: value)
  }

  private static func malformedName(_ line: UnsafeRawBufferPointer) -> FramingError {
    let end = line.firstIndex { !Octet.isToken($0) } ?? line.endIndex
    guard end < line.count, Octet.isBlank(line[end]) else {
      return FramingError(.malformedFieldName, "a field line has no colon or a name that is not a token")
    }
    if end == 0 { return FramingError(.foldedField, "a field line begins with white space") }
    return FramingError(.spaceBeforeColon, "white space follows a field's name")
  }
}

// MARK: Fields that frame the message

extension FieldSection {
  /// Accepts one number, or equal numbers in a list or in repeated fields (RFC 9110 §8.6, RFC 9112 §6.3). The resulting
  /// fields contain the number once.
  private mutating func addContentLength(_ value: UnsafeRawBufferPointer, _ name: HTTPField.Name) throws(FramingError) {
    let (length, isList) = try Self.contentLength(value)
    guard facts.contentLength == nil || facts.contentLength == length else { throw Self.severalLengths }
    guard facts.contentLength == nil else { return }
    facts.contentLength = length
    fields.append(isList ? HTTPField(name: name, value: "\(length)") : Self.field(name, value, .ascii))
  }

  /// Returns the number of a `Content-Length`, and whether the value is a list of equal numbers.
  static func contentLength(_ value: UnsafeRawBufferPointer) throws(FramingError) -> (number: Int64, isList: Bool) {
    if let number = shortNumber(value) { return (number, false) }
    var length: Int64?
    var start = 0
    while true {
      let end = value[start...].firstIndex(of: Octet.comma) ?? value.endIndex
      let next = try number(Octet.trimmed(UnsafeRawBufferPointer(rebasing: value[start..<end])))
      guard length == nil || length == next else { throw severalLengths }
      length = next
      guard end < value.endIndex else { return (next, start > 0) }
      start = end + 1
    }
  }

  private static let severalLengths = FramingError(.conflictingContentLength, "the response has several lengths")

  /// Returns the number of at most 18 digits, which cannot overflow; `nil` for everything else.
  @inline(__always)
  private static func shortNumber(_ digits: UnsafeRawBufferPointer) -> Int64? {
    guard digits.count > 0, digits.count <= 18 else { return nil }
    var number: Int64 = 0
    for digit in digits {
      guard Octet.isDigit(digit) else { return nil }
      number = number &* 10 &+ Int64(digit &- UInt8(ascii: "0"))
    }
    return number
  }

  private static func number(_ digits: UnsafeRawBufferPointer) throws(FramingError) -> Int64 {
    var number: Int64 = 0
    for byte in digits {
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isEvenTooLarge) = tens.addingReportingOverflow(Int64(byte &- UInt8(ascii: "0")))
      guard Octet.isDigit(byte), !isTooLarge, !isEvenTooLarge else {
        throw FramingError(.malformedContentLength, "the content's length is not a number or is too large")
      }
      number = sum
    }
    guard !digits.isEmpty else { throw FramingError(.malformedContentLength, "the content's length is empty") }
    return number
  }

  /// Accepts only a single `chunked`, because the request offered no other transfer coding (RFC 9110 §10.1.4).
  private mutating func takeTransferEncoding(_ value: UnsafeRawBufferPointer) throws(FramingError) {
    guard !facts.isChunked, Octet.spells(value, "chunked") else {
      throw FramingError(.malformedTransferEncoding, "the transfer coding is not a single chunked")
    }
    facts.isChunked = true
  }

  /// Reads the connection options (RFC 9110 §7.6.1).
  private mutating func takeConnection(_ value: UnsafeRawBufferPointer) {
    var start = 0
    while start < value.count {
      let end = value[start...].firstIndex(of: Octet.comma) ?? value.endIndex
      let option = Octet.trimmed(UnsafeRawBufferPointer(rebasing: value[start..<end]))
      start = end + 1
      if Octet.spells(option, "close") { facts.closes = true }
      if Octet.spells(option, "keep-alive") { facts.keepsAlive = true }
    }
  }
}

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
