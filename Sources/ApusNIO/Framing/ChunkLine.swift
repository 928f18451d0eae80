#if NIO
  /// The line that begins a chunk: its size and extensions (RFC 9112 §7.1).
  struct ChunkLine: Sendable, Equatable {
    /// How many bytes of content follow; 0 for the last chunk.
    let size: Int64

    /// More digits than 64 bits have are refused even where they are zeros.
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
      // White space may stand before an extension only, so it must be told from padding (RFC 9112 §7.1.1).
      let rest = Octet.trimmed(UnsafeRawBufferPointer(rebasing: line[end...]))
      guard rest.first == UInt8(ascii: ";") else {
        throw FramingError(.malformedChunkSize, "a chunk's size is followed by something else than an extension")
      }
      try Self.checkExtensions(UnsafeRawBufferPointer(rebasing: line[end...]))
    }

    /// `*( BWS ";" BWS name [ BWS "=" BWS value ] )`, where a value is a token or quoted. What they say is ignored.
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

    /// RFC 9110 §5.6.4.
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
#endif
