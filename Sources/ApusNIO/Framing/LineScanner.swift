#if NIO
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Finds the ends of lines, and never looks at a byte twice however little arrives at once.
  struct LineScanner: Sendable {
    /// How many bytes of the line that is not complete yet have been searched.
    private var searched = 0

    /// Where the line that begins at `start` has its LF; `nil` while that has not come.
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
    /// The line between `start` and its LF, without the CR that must stand before that.
    ///
    /// RFC 9112 §2.2 lets a recipient take LF alone for the end of a line. Two recipients that differ in this see
    /// different messages, so it is refused.
    @inline(__always)
    func line(from start: Int, to lineFeed: Int) throws(FramingError) -> UnsafeRawBufferPointer {
      guard lineFeed > start, self[lineFeed - 1] == Octet.carriageReturn else {
        throw FramingError(.malformedLineEnd, "a line ends without CR")
      }
      return UnsafeRawBufferPointer(rebasing: self[start..<lineFeed - 1])
    }
  }
#endif
