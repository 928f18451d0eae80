import HTTPTypes
import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An encoder of request heads as field blocks (RFC 7541, RFC 9113 §8.3.1). Owns the dynamic table of one connection.
///
/// The encoder refuses the same request heads as ``RequestEncoder``. A refused head leaves the dynamic table unchanged.
struct FieldEncoder: Sendable {
  /// An entry of the dynamic table, with a hash of the name and a hash of the name and the value. A class, so that a
  /// look-up does not copy the entry.
  private final class Entry: Sendable, FieldTableEntry {
    let field: HTTPField
    let nameHash: UInt64
    let hash: UInt64
    let size: Int

    init(_ field: HTTPField, nameHash: UInt64, hash: UInt64, size: Int) {
      (self.field, self.nameHash, self.hash, self.size) = (field, nameHash, hash, size)
    }

    func hasValue(_ value: UnsafeRawBufferPointer) -> Bool {
      field.withUnsafeBytesOfValue { bytes in
        let bytes = Octet.trimmed(UnsafeRawBufferPointer(bytes))
        guard bytes.count == value.count, let start = bytes.baseAddress, let other = value.baseAddress else {
          return bytes.isEmpty && value.isEmpty
        }
        return memcmp(start, other, bytes.count) == 0
      }
    }
  }

  /// The maximum size of the dynamic table, even if the server allows a larger table.
  static let maximumTableSize = 4096

  private var table = FieldTable<Entry>(maximumSize: maximumTableSize)
  private let names = SentNames.shared
  /// The table size that the server knows: the initial size, or the size of the last table size update.
  private var announcedSize = maximumTableSize
  /// The smallest table size since the last field block.
  private var smallestSize = maximumTableSize

  init() {}

  /// The number of entries in the dynamic table.
  var tableCount: Int { table.count }

  /// Applies the server's SETTINGS_HEADER_TABLE_SIZE. The next field block begins with a table size update if the size
  /// has changed (RFC 7541 §4.2).
  mutating func limitTable(to size: UInt32) {
    let size = min(Int(size), Self.maximumTableSize)
    smallestSize = min(smallestSize, size)
    table.resize(to: size)
  }

  /// Appends the field block of a request.
  ///
  /// - Parameters:
  ///   - adding: the fields that the transport adds. Connection-specific fields are not written.
  ///   - framing: the framing of the content. A known length is written as `content-length`.
  /// - Throws: ``FramingError`` with ``FramingError/Kind/invalidMethod``, ``FramingError/Kind/invalidTarget`` or
  ///   ``FramingError/Kind/invalidField``. After an error the buffer is unchanged.
  mutating func encode(
    _ head: HTTPRequest, adding: HTTPFields, framing: RequestFraming, into buffer: inout ByteBuffer
  ) throws(FramingError) {
    // The whole head is checked before writing: entries of a refused head would never reach the server, and the dynamic
    // tables would differ.
    let target = try RequestTarget(head)
    var limit = target.limit
    for field in head.headerFields { limit += try Self.check(field, isReserved: Self.isReserved(field)) }
    for field in adding {
      limit += try Self.check(field, isReserved: RequestEncoder.isFraming(field.name.canonicalName))
    }
    try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: limit) { memory throws(FramingError) in
      var writer = BlockWriter(memory)
      writeTableSize(&writer)
      write(target, &writer)
      for field in head.headerFields { write(field, &writer) }
      for field in adding where !Self.isReserved(field) { write(field, &writer) }
      if case .length(let length) = framing {
        writer.write(Self.contentLength, prefix: 4, pattern: 0)
        writer.writeDecimal(length)
      }
      // `limit` was computed from the same strings, so the memory is large enough.
      guard !writer.isTruncated else { throw FramingError(.invalidField, "the head grew while it was written") }
      return writer.count
    }
  }

  private mutating func writeTableSize(_ writer: inout BlockWriter) {
    if smallestSize < announcedSize {
      writer.write(smallestSize, prefix: 5, pattern: 0x20)
      announcedSize = smallestSize
    }
    if table.maximumSize != announcedSize {
      writer.write(table.maximumSize, prefix: 5, pattern: 0x20)
      announcedSize = table.maximumSize
    }
    smallestSize = announcedSize
  }

  private mutating func write(_ target: RequestTarget, _ writer: inout BlockWriter) {
    switch target.method {
    case "GET": writer.write(2, prefix: 7, pattern: 0x80)
    case "POST": writer.write(3, prefix: 7, pattern: 0x80)
    default: write(target.fields.method, &writer)
    }
    if let scheme = target.scheme {
      switch scheme {
      case "https": writer.write(7, prefix: 7, pattern: 0x80)
      case "http": writer.write(6, prefix: 7, pattern: 0x80)
      default: target.fields.scheme.map { write($0, &writer) }
      }
    }
    if var path = target.path {
      switch path {
      case "/": writer.write(4, prefix: 7, pattern: 0x80)
      case "/index.html": writer.write(5, prefix: 7, pattern: 0x80)
      default:
        writer.write(4, prefix: 4, pattern: 0)
        path.withUTF8 { writer.write(UnsafeRawBufferPointer($0)) }
      }
    }
    write(target.authority, &writer)
  }
}

// MARK: Fields

extension FieldEncoder {
  /// The index of `content-length` in the static table.
  private static let contentLength = 28
  /// The index of `accept-encoding: gzip, deflate` in the static table.
  private static let acceptEncoding = 16

  /// Whether only the transport may write a field. `TE: trailers` is allowed: it is not connection-specific.
  private static func isReserved(_ field: HTTPField) -> Bool {
    guard RequestEncoder.isReserved(field.name.canonicalName) else { return false }
    return field.name != .te || field.withUnsafeBytesOfValue { !Octet.spells(UnsafeRawBufferPointer($0), "trailers") }
  }

  /// Checks a field and returns its maximum size in a field block.
  private static func check(_ field: HTTPField, isReserved: Bool) throws(FramingError) -> Int {
    guard !isReserved else {
      throw FramingError(.invalidField, "the field \(field.name) is set by the transport")
    }
    let count = field.withUnsafeBytesOfValue { value in
      Octet.isText(UnsafeRawBufferPointer(value)) ? value.count : -1
    }
    guard count >= 0 else {
      throw FramingError(
        .invalidField, "the value of the field \(field.name) contains a character that is not allowed")
    }
    return BlockWriter.limit(nameCount: field.name.canonicalName.utf8.count, valueCount: count)
  }

  @inline(__always)
  private mutating func write(_ field: HTTPField, _ writer: inout BlockWriter) {
    var name = field.name.canonicalName
    name.withUTF8 { name in
      field.withUnsafeBytesOfValue { value in
        write(
          field, UnsafeRawBufferPointer(name), Octet.trimmed(UnsafeRawBufferPointer(value)), &writer)
      }
    }
  }

  private mutating func write(
    _ field: HTTPField, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ writer: inout BlockWriter
  ) {
    let nameHash = FieldHash.of(name)
    let known = names.find(name, hash: nameHash)
    var rule = IndexingRule.of(field, valueCount: value.count, named: known)
    var index = Int(known.index)
    // `accept-encoding` is the only regular field of a request that has a value in the static table.
    if index == Self.acceptEncoding, rule != .sensitive, Self.isSame(value, "gzip, deflate") {
      return writer.write(index, prefix: 7, pattern: 0x80)
    }
    let size = name.count + value.count + 32
    // A field that fills most of the dynamic table would evict most other entries.
    if rule == .indexed, size > table.maximumSize / 2 { rule = .literal }
    if rule == .indexed {
      let hash = FieldHash.of(value, seed: nameHash)
      if let full = find(value, hash, nameHash, &index) { return writer.write(full, prefix: 7, pattern: 0x80) }
      table.insert(Entry(field, nameHash: nameHash, hash: hash, size: size))
      writer.write(index, prefix: 6, pattern: 0x40)
    } else {
      writer.write(index, prefix: 4, pattern: rule == .sensitive ? 0x10 : 0)
    }
    if index == 0 { writer.write(name) }
    writer.write(value)
  }
}

// MARK: Indices

extension FieldEncoder {
  @inline(__always)
  private static func isSame(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount, let base = bytes.baseAddress else { return false }
    return memcmp(base, text.utf8Start, bytes.count) == 0
  }

  /// Returns the index of a field in the dynamic table.
  ///
  /// - Parameter name: the index of the field's name. An index of 0 is replaced by the name's index in
  ///   the dynamic table, if the table contains the name.
  @inline(__always)
  private func find(_ value: UnsafeRawBufferPointer, _ hash: UInt64, _ nameHash: UInt64, _ name: inout Int) -> Int? {
    for position in 0..<table.count {
      guard let entry = table[position], entry.nameHash == nameHash else { continue }
      let index = StaticFields.count + 1 + position
      if entry.hash == hash, entry.hasValue(value) { return index }
      if name == 0 { name = index }
    }
    return nil
  }
}

/// The pseudo-header fields of a request (RFC 9113 §8.3.1), checked by the rules of the HTTP/1.1 request line.
struct RequestTarget {
  let fields: HTTPRequest.PseudoHeaderFields
  let method: String
  /// `nil` for CONNECT (RFC 9113 §8.5).
  let scheme: String?
  /// A path that begins with a slash, the asterisk of OPTIONS, or `nil` for CONNECT.
  let path: String?
  let authority: HTTPField
  /// The maximum size of the pseudo-header fields, the table size updates and `content-length` in a field block.
  private(set) var limit = 128

  init(_ head: HTTPRequest) throws(FramingError) {
    fields = head.pseudoHeaderFields
    method = head.method.rawValue
    guard Self.measure(method, &limit, where: Octet.isToken) else {
      throw FramingError(.invalidMethod, "the method is not a token")
    }
    guard let authority = fields.authority, Self.measure(authority, &limit) else {
      throw FramingError(.invalidTarget, "the authority is missing or malformed")
    }
    self.authority = authority
    guard method != "CONNECT" else {
      (scheme, path) = (nil, nil)
      return
    }
    guard let scheme = head.scheme, Self.measure(scheme, &limit, where: TargetRules.isScheme) else {
      throw FramingError(.invalidTarget, "the scheme is missing or malformed")
    }
    self.scheme = scheme
    let path = try Self.path(head.path ?? "/", method)
    guard Self.measure(path, &limit, where: TargetRules.isTarget) else {
      throw FramingError(.invalidTarget, "the target contains a character that is not allowed")
    }
    self.path = path
  }

  private static func path(_ path: String, _ method: String) throws(FramingError) -> String {
    let first = path.utf8.first
    if first == UInt8(ascii: "/") { return path }
    if first == nil || first == UInt8(ascii: "?") { return "/" + path }
    guard path == "*", method == "OPTIONS" else {
      throw FramingError(.invalidTarget, "the path does not begin with a slash")
    }
    return path
  }

  /// Adds the maximum size of a field to `limit`. Returns whether the value is not empty and all bytes are allowed.
  @inline(__always)
  private static func measure(_ value: String, _ limit: inout Int, where isAllowed: (UInt8) -> Bool) -> Bool {
    var value = value
    limit += BlockWriter.limit(nameCount: 10, valueCount: value.utf8.count)
    return value.withUTF8 { value in
      for byte in value where !isAllowed(byte) { return false }
      return !value.isEmpty
    }
  }

  private static func measure(_ authority: HTTPField, _ limit: inout Int) -> Bool {
    authority.withUnsafeBytesOfValue { value in
      for byte in value where !TargetRules.isAuthority(byte) { return false }
      limit += BlockWriter.limit(nameCount: 10, valueCount: value.count)
      return !value.isEmpty
    }
  }
}
