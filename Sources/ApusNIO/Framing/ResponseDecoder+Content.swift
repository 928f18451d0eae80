#if NIO
  import NIOCore

  /// Content: counted, or in chunks (RFC 9112 §6, §7.1).
  extension ResponseDecoder {
    /// Takes what is there, up to what remains; then the next phase begins.
    mutating func readContent(of buffer: inout ByteBuffer, then next: Phase) -> DecodedPart? {
      let count = Int(min(remaining, Int64(buffer.readableBytes)))
      guard let slice = buffer.readSlice(length: count) else { return nil }
      remaining -= Int64(count)
      if remaining == 0 { phase = next }
      return .content(slice)
    }

    /// Reads the line that begins a chunk; answers whether it was complete.
    mutating func readChunkLine(of buffer: inout ByteBuffer) throws(FramingError) -> Bool {
      let (consumed, chunk) = try buffer.withUnsafeReadableBytes { bytes throws(FramingError) -> (Int, ChunkLine?) in
        let lineFeed = lines.lineFeed(in: bytes, from: 0)
        guard lineFeed ?? bytes.count <= limits.chunkLineBytes else { throw Self.tooMuchExtension }
        guard let lineFeed else { return (0, nil) }
        return (lineFeed + 1, try ChunkLine(try bytes.line(from: 0, to: lineFeed)))
      }
      guard let chunk else { return false }
      buffer.moveReaderIndex(forwardBy: consumed)
      // A size of a few digits and twice the content are free: a flood is what says much and brings little.
      overhead = max(0, overhead + Int64(consumed) - 16 - min(chunk.size, Int64.max / 4) * 2)
      guard overhead <= limits.chunkOverhead else { throw Self.tooMuchExtension }
      remaining = chunk.size
      phase = chunk.size == 0 ? .trailers : .chunkContent
      return true
    }

    /// Reads the CRLF after a chunk's content; answers whether it had come.
    mutating func readChunkEnd(of buffer: inout ByteBuffer) throws(FramingError) -> Bool {
      let first: UInt8? = buffer.getInteger(at: buffer.readerIndex)
      let second: UInt8? = buffer.getInteger(at: buffer.readerIndex + 1)
      guard first == Octet.carriageReturn, second ?? Octet.lineFeed == Octet.lineFeed else {
        throw FramingError(.malformedChunkEnd, "a chunk's content is not followed by CRLF")
      }
      guard second != nil else { return false }
      buffer.moveReaderIndex(forwardBy: 2)
      phase = .chunkLine
      return true
    }

    private static let tooMuchExtension = FramingError(.chunkExtensionsTooLarge, "chunk extensions outgrow the content")
  }
#endif
