#if NIO
  /// Content of any size that is known without being stored: a unit repeated for ever.
  public struct ContentPattern: Sendable, Hashable {
    /// The bytes repeated; never empty.
    public let unit: [UInt8]

    /// `unit` repeated; a zero byte repeated when it is empty.
    public init(repeating unit: [UInt8]) {
      self.unit = unit.isEmpty ? [0] : unit
    }

    /// The bytes 0 to 250 repeated. Their number is a prime, so lost or doubled blocks of any usual size show.
    public static let counting = ContentPattern(repeating: Array(0...250))

    /// The bytes of a part of the content, from an offset to another.
    public func bytes(_ range: Range<Int>) -> [UInt8] {
      let start = range.lowerBound % unit.count
      return Array(block(atLeast: start + range.count)[start..<start + range.count])
    }

    /// The digest of the first `length` bytes, to compare with what was received.
    public func digest(of length: Int) -> ContentDigest {
      var digest = ContentDigest()
      var rest = length
      let block = block(atLeast: min(length, 1 << 16))
      while rest > 0 {
        digest.update(with: block.prefix(rest))
        rest -= min(rest, block.count)
      }
      return digest
    }

    /// Whole units, at least `length` bytes of them.
    func block(atLeast length: Int) -> [UInt8] {
      // Whole units at a time: byte by byte is a hundred times slower where nothing is optimised.
      var bytes: [UInt8] = []
      bytes.reserveCapacity(length + unit.count)
      while bytes.count < length { bytes += unit }
      return bytes
    }
  }
#endif
