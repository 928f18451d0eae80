#if NIO
  import HTTPTypes
  import NIOCore

  /// Content in chunks (RFC 9112 §7.1): ``beginChunk(_:into:)``, so many bytes, ``endChunk(into:)``, and so on;
  /// ``endChunks(into:)`` at last.
  extension RequestEncoder {
    /// Writes what stands before a chunk's content. Nothing for a chunk without content: that would be the last.
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

    /// Writes what stands after a chunk's content. Not to be called for a chunk without content.
    static func endChunk(into buffer: inout ByteBuffer) {
      buffer.writeStaticString("\r\n")
    }

    /// Writes the last chunk, which is empty, and no trailers.
    static func endChunks(into buffer: inout ByteBuffer) {
      buffer.writeStaticString("0\r\n\r\n")
    }
  }
#endif
