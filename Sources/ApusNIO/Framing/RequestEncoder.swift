import HTTPTypes
import NIOCore

/// An encoder that writes requests as HTTP/1.1 (RFC 9112 §3, §6, §7) into one buffer, without intermediate strings.
///
/// Only the encoder writes the framing fields: `Host`, `Content-Length`, `Transfer-Encoding`. All other bytes are
/// checked as they are copied. Forbidden bytes are refused, not replaced: a control character could end a line and
/// begin another request.
struct RequestEncoder: Sendable {
  /// The form of the request target.
  var form = TargetForm.origin
  /// The framing of the content.
  var framing = RequestFraming.none
  /// The transport's own fields, written after the message's: `User-Agent`, `Accept-Encoding`, `Proxy-Authorization`,
  /// `Connection`.
  var adding = HTTPFields()

  /// Writes a request's head, the empty line included.
  ///
  /// - Throws: ``FramingError`` with ``FramingError/Kind/invalidMethod``, ``FramingError/Kind/invalidTarget`` or
  ///   ``FramingError/Kind/invalidField``; the buffer is then unchanged.
  func encodeHead(_ head: HTTPRequest, into buffer: inout ByteBuffer) throws(FramingError) {
    // The size is measured first, so that the head needs one write to the buffer instead of about thirty.
    try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: measure(head)) { target throws(FramingError) in
      var writer = HeadWriter(target)
      try write(head, &writer)
      return writer.count
    }
  }

  /// Returns an upper bound for the head's size.
  private func measure(_ head: HTTPRequest) -> Int {
    var count = 128 + head.method.rawValue.utf8.count + (head.path?.utf8.count ?? 1)
    count += (head.scheme?.utf8.count ?? 0) + 2 * (head.authority?.utf8.count ?? 0)
    for field in head.headerFields { count += Self.measure(field) }
    for field in adding { count += Self.measure(field) }
    return count
  }

  private static func measure(_ field: HTTPField) -> Int {
    field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 4
  }

  private func write(_ head: HTTPRequest, _ writer: inout HeadWriter) throws(FramingError) {
    try writeRequestLine(head, &writer)
    for field in head.headerFields { try write(field, unless: Self.isReserved, &writer) }
    for field in adding { try write(field, unless: Self.isFraming, &writer) }
    switch framing {
    case .none: break
    case .length(let length):
      try writer.write("Content-Length: ")
      try writer.writeDecimal(length)
      try writer.write("\r\n")
    case .chunked: try writer.write("Transfer-Encoding: chunked\r\n")
    }
    try writer.write("\r\n")
  }

  private func writeRequestLine(_ head: HTTPRequest, _ writer: inout HeadWriter) throws(FramingError) {
    let method = head.method.rawValue
    guard !method.isEmpty, try writer.write(method, where: Octet.isToken) else {
      throw FramingError(.invalidMethod, "the method is not a token")
    }
    try writer.write(" ")
    guard let authority = head.authority, !authority.isEmpty else { throw Self.invalidAuthority }
    switch form {
    case .origin: break
    case .absolute:
      guard let scheme = head.scheme, !scheme.isEmpty, try writer.write(scheme, where: TargetRules.isScheme) else {
        throw FramingError(.invalidTarget, "the scheme is missing or malformed")
      }
      try writer.write("://")
      try write(authority: authority, &writer)
    case .authority:
      try write(authority: authority, &writer)
    }
    if form != .authority { try write(path: head.path ?? "/", method, &writer) }
    try writer.write(" HTTP/1.1\r\nHost: ")
    try write(authority: authority, &writer)
    try writer.write("\r\n")
  }

  private func write(path: String, _ method: String, _ writer: inout HeadWriter) throws(FramingError) {
    var path = path
    let first = path.utf8.first
    if first == nil || first == UInt8(ascii: "?") {
      try writer.write("/")
    } else if path == "*", method == "OPTIONS" {
      // RFC 9112 §3.2.4: the absolute form of `*` is a URL without a path.
      if form == .absolute { path = "" }
    } else if first != UInt8(ascii: "/") {
      throw FramingError(.invalidTarget, "the path does not begin with a slash")
    }
    guard try writer.write(path, where: TargetRules.isTarget) else {
      throw FramingError(.invalidTarget, "the target contains a character that is not allowed")
    }
  }

  private func write(authority: String, _ writer: inout HeadWriter) throws(FramingError) {
    guard try writer.write(authority, where: TargetRules.isAuthority) else { throw Self.invalidAuthority }
  }

  private func write(
    _ field: HTTPField, unless isRefused: (String) -> Bool, _ writer: inout HeadWriter
  ) throws(FramingError) {
    guard !isRefused(field.name.canonicalName) else {
      throw FramingError(.invalidField, "the field \(field.name) is set by the transport")
    }
    guard try writer.write(field.name.rawName, where: Octet.isToken) else {
      throw FramingError(.invalidField, "a field's name is not a token")
    }
    try writer.write(": ")
    let isText = try field.withUnsafeBytesOfValue { value throws(FramingError) in
      Octet.isText(try writer.write(UnsafeRawBufferPointer(value)))
    }
    guard isText else {
      throw FramingError(
        .invalidField, "the value of the field \(field.name) contains a character that is not allowed")
    }
    try writer.write("\r\n")
  }

  private static let invalidAuthority = FramingError(.invalidTarget, "the authority is missing or malformed")

  /// Whether a field is written only from the request's authority and framing.
  static func isFraming(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: name == "host"
    case 14: name == "content-length"
    case 17: name == "transfer-encoding"
    default: false
    }
  }

  /// Whether a field is reserved for the transport, which owns the connection (RFC 9110 §7.6.1).
  static func isReserved(_ name: String) -> Bool {
    switch name.utf8.count {
    case 2: name == "te"
    case 4: name == "host"
    case 7: name == "upgrade" || name == "trailer"
    case 10: name == "connection" || name == "keep-alive"
    case 14: name == "content-length"
    case 16: name == "proxy-connection"
    case 17: name == "transfer-encoding"
    default: false
    }
  }
}

/// The forms of a request target (RFC 9112 §3.2).
enum TargetForm: Sendable, Hashable {
  /// Path and query, or `*` for OPTIONS: for the origin server, also through a tunnel.
  case origin
  /// The whole URL: for a proxy that forwards the request.
  case absolute
  /// Host and port: CONNECT only.
  case authority
}

/// The framing of a request's content (RFC 9112 §6.3).
enum RequestFraming: Sendable, Hashable {
  /// No content, and no field about it.
  case none
  /// A known number of bytes, not negative.
  case length(Int64)
  /// Chunks, for content of unknown length.
  case chunked
}

// MARK: Chunks

/// Content in chunks (RFC 9112 §7.1): for each chunk ``beginChunk(_:into:)``, its bytes and ``endChunk(into:)``; at
/// the end ``endChunks(into:)``.
extension RequestEncoder {
  /// Writes a chunk's first line. Writes nothing for an empty chunk, which would end the content.
  static func beginChunk(_ count: Int, into buffer: inout ByteBuffer) {
    guard count > 0 else { return }
    var shift = (Int.bitWidth - 1 - count.leadingZeroBitCount) & ~3
    while shift >= 0 {
      let digit = UInt8(count >> shift & 0xF)
      buffer.writeInteger(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
      shift -= 4
    }
    buffer.writeStaticString("\r\n")
  }

  /// Writes the line end after a chunk's content. Do not call it for an empty chunk.
  static func endChunk(into buffer: inout ByteBuffer) {
    buffer.writeStaticString("\r\n")
  }

  /// Writes the last chunk, which is empty, and no trailers.
  static func endChunks(into buffer: inout ByteBuffer) {
    buffer.writeStaticString("0\r\n\r\n")
  }
}

/// A writer that copies the parts of a request head into memory of sufficient size and checks them.
struct HeadWriter {
  private let target: UnsafeMutableRawBufferPointer
  /// The number of bytes written.
  private(set) var count = 0

  init(_ target: UnsafeMutableRawBufferPointer) {
    self.target = target
  }

  /// Copies bytes and returns the copy.
  @discardableResult
  @inline(__always)
  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FramingError) -> UnsafeRawBufferPointer {
    // The size was measured before, by the same rules. This check prevents an overflow if a string yields more bytes
    // now than when it was measured.
    guard bytes.count <= target.count - count else {
      throw FramingError(.invalidField, "the head grew while it was written")
    }
    let place = UnsafeMutableRawBufferPointer(rebasing: target[count..<count + bytes.count])
    place.copyMemory(from: bytes)
    count += bytes.count
    return UnsafeRawBufferPointer(place)
  }

  @inline(__always)
  mutating func write(_ text: StaticString) throws(FramingError) {
    try write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Copies text. Returns whether all of its bytes are allowed.
  @inline(__always)
  mutating func write(_ text: String, where isAllowed: (UInt8) -> Bool) throws(FramingError) -> Bool {
    var text = text
    let written = text.withUTF8 { bytes in
      Result { () throws(FramingError) in try write(UnsafeRawBufferPointer(bytes)) }
    }
    for byte in try written.get() where !isAllowed(byte) { return false }
    return true
  }

  /// Writes a number in decimal digits. A negative number is written as 0.
  mutating func writeDecimal(_ number: Int64) throws(FramingError) {
    let number = max(0, number)
    var divisor: Int64 = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      let digit = UInt8(number / divisor % 10) + UInt8(ascii: "0")
      guard count < target.count else { throw FramingError(.invalidField, "the head grew while it was written") }
      target[count] = digit
      count += 1
      divisor /= 10
    }
  }
}

/// The bytes that a request line may contain (RFC 3986, RFC 9112 §3.2).
///
/// Only bytes that would break the line or change its meaning are refused. Paths are not checked any further.
enum TargetRules {
  /// Whether a target may contain the byte: visible ASCII except `#`, which would begin a fragment.
  @inline(__always)
  static func isTarget(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
  }

  /// Whether an authority may contain the byte: visible ASCII except characters that would end it or mark user
  /// information.
  @inline(__always)
  static func isAuthority(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"),
      UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"):
      false
    default: byte > 0x20 && byte < 0x7F
    }
  }

  /// Whether a scheme may contain the byte: letters, digits, `+`, `-` and `.`.
  @inline(__always)
  static func isScheme(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}
