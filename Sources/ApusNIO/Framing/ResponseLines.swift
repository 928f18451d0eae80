import HTTPTypes

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A scanner for line ends that searches each byte once, even if bytes arrive one by one.
struct LineScanner: Sendable {
  /// The number of searched bytes of the incomplete line.
  private var searched = 0

  /// Returns the position of the LF of the line that begins at `start`; `nil` until it has arrived.
  @inline(__always)
  mutating func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let count = bytes.count - start - searched
    guard count > 0, let base = bytes.baseAddress else { return nil }
    guard let found = memchr(base + start + searched, Int32(Octet.lineFeed), count) else {
      searched += count
      return nil
    }
    searched = 0
    return UnsafeRawPointer(found) - base
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the line between `start` and its LF, without the CR before it.
  ///
  /// RFC 9112 §2.2 permits a recipient to accept a bare LF as a line end. A recipient that accepts it and a recipient
  /// that does not would read different messages, so a bare LF is refused.
  @inline(__always)
  func line(from start: Int, to lineFeed: Int) throws(FramingError) -> UnsafeRawBufferPointer {
    guard lineFeed > start, self[lineFeed - 1] == Octet.carriageReturn else {
      throw FramingError(.malformedLineEnd, "a line ends without CR")
    }
    return UnsafeRawBufferPointer(rebasing: self[start..<lineFeed - 1])
  }
}

/// The status line of a response (RFC 9112 §4).
struct StatusLine: Sendable, Equatable {
  let status: HTTPResponse.Status
  /// Whether the version is HTTP/1.1 or a later HTTP/1, where connections persist by default (RFC 9110 §2.5).
  let isPersistentVersion: Bool

  /// Reads `HTTP/1.1 200 OK`, with exactly one space between the parts. Without a reason the last space may be
  /// missing, as RFC 9112 §4 permits, because many servers omit it.
  init(_ line: UnsafeRawBufferPointer) throws(FramingError) {
    try Self.checkStart(line)
    guard line.count >= 12, Octet.isDigit(line[5]), line[6] == UInt8(ascii: "."), Octet.isDigit(line[7]),
      line[8] == Octet.space
    else { throw Self.malformed }
    guard line[5] == UInt8(ascii: "1") else {
      throw FramingError(.unsupportedVersion, "the response's version is not HTTP/1")
    }
    var code = 0
    for digit in line[9..<12] {
      guard Octet.isDigit(digit) else { throw Self.malformed }
      code = code * 10 + Int(digit &- UInt8(ascii: "0"))
    }
    guard code >= 100, line.count == 12 || line[12] == Octet.space else { throw Self.malformed }
    let reason = UnsafeRawBufferPointer(rebasing: line[min(13, line.count)...])
    let text = Octet.text(reason)
    guard text != .forbidden else { throw Self.malformed }
    status = HTTPResponse.Status(
      code: code, reasonPhrase: text == .ascii ? Octet.string(reason) : Self.text(reason))
    isPersistentVersion = line[7] != UInt8(ascii: "0")
  }

  /// Throws as soon as the first bytes cannot begin a status line, because the peer does not speak HTTP.
  @inline(__always)
  static func checkStart(_ bytes: UnsafeRawBufferPointer) throws(FramingError) {
    let expected: StaticString = "HTTP/"
    for index in 0..<min(bytes.count, expected.utf8CodeUnitCount) where bytes[index] != expected.utf8Start[index] {
      throw malformed
    }
  }

  private static let malformed = FramingError(.malformedStatusLine, "the status line is malformed")

  /// Decodes UTF-8, or else ISO 8859-1.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var text = ""
    for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
    return text
  }
}

/// The first line of a chunk: its size and extensions (RFC 9112 §7.1).
struct ChunkLine: Sendable, Equatable {
  /// The number of content bytes that follow; 0 for the last chunk.
  let size: Int64

  /// The maximum number of digits of a size. A longer size is refused, even if it begins with zeros.
  private static let digitLimit = 16

  init(_ line: UnsafeRawBufferPointer) throws(FramingError) {
    var size: UInt64 = 0
    var end = 0
    while end < line.count, let digit = Octet.hexadecimalValue(line[end]) {
      guard end < Self.digitLimit else {
        throw FramingError(.malformedChunkSize, "a chunk's size has too many digits")
      }
      size = size << 4 | UInt64(digit)
      end += 1
    }
    guard end > 0, let length = Int64(exactly: size) else {
      throw FramingError(.malformedChunkSize, "a chunk's size is not hexadecimal, or too large")
    }
    self.size = length
    guard end < line.count else { return }
    // White space is allowed only before an extension; trailing padding is refused (RFC 9112 §7.1.1).
    let rest = Octet.trimmed(UnsafeRawBufferPointer(rebasing: line[end...]))
    guard rest.first == UInt8(ascii: ";") else {
      throw FramingError(.malformedChunkSize, "a chunk's size is followed by something other than an extension")
    }
    try Self.checkExtensions(UnsafeRawBufferPointer(rebasing: line[end...]))
  }

  /// Checks `*( BWS ";" BWS name [ BWS "=" BWS value ] )`, where a value is a token or quoted. The content is
  /// ignored.
  private static func checkExtensions(_ bytes: UnsafeRawBufferPointer) throws(FramingError) {
    var position = 0
    while position < bytes.count {
      skipBlanks(bytes, &position)
      guard skip(UInt8(ascii: ";"), bytes, &position) else { throw malformed }
      skipBlanks(bytes, &position)
      guard skipToken(bytes, &position) else { throw malformed }
      let nameEnd = position
      skipBlanks(bytes, &position)
      guard skip(UInt8(ascii: "="), bytes, &position) else {
        position = nameEnd
        continue
      }
      skipBlanks(bytes, &position)
      guard skipToken(bytes, &position) || skipQuoted(bytes, &position) else { throw malformed }
    }
  }

  private static let malformed = FramingError(.malformedChunkExtension, "a chunk's extensions are malformed")

  private static func skip(_ byte: UInt8, _ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private static func skipBlanks(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) {
    while position < bytes.count, Octet.isBlank(bytes[position]) { position += 1 }
  }

  private static func skipToken(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
    let start = position
    while position < bytes.count, Octet.isToken(bytes[position]) { position += 1 }
    return position > start
  }

  /// Skips a quoted string (RFC 9110 §5.6.4).
  private static func skipQuoted(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
    guard skip(UInt8(ascii: "\""), bytes, &position) else { return false }
    while position < bytes.count {
      if skip(UInt8(ascii: "\""), bytes, &position) { return true }
      _ = skip(UInt8(ascii: "\\"), bytes, &position)
      guard position < bytes.count, Octet.isText(UnsafeRawBufferPointer(rebasing: bytes[position...position])) else {
        return false
      }
      position += 1
    }
    return false
  }
}
