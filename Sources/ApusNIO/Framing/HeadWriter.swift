#if NIO
  /// Copies the parts of a head into memory that was measured before, and checks them on the way.
  struct HeadWriter {
    private let target: UnsafeMutableRawBufferPointer
    /// How much is written.
    private(set) var count = 0

    init(_ target: UnsafeMutableRawBufferPointer) {
      self.target = target
    }

    /// Copies bytes; answers where they are now.
    @discardableResult
    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FramingError) -> UnsafeRawBufferPointer {
      // Measured by the same rules as it is written; a string that is longer the second time must not go further.
      guard bytes.count <= target.count - count else {
        throw FramingError(.invalidField, "the head is longer than it was")
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

    /// Copies text and checks each of its bytes; answers whether all of them are allowed.
    @inline(__always)
    mutating func write(_ text: String, where isAllowed: (UInt8) -> Bool) throws(FramingError) -> Bool {
      var text = text
      let written = text.withUTF8 { bytes in
        Result { () throws(FramingError) in try write(UnsafeRawBufferPointer(bytes)) }
      }
      for byte in try written.get() where !isAllowed(byte) { return false }
      return true
    }

    /// Writes a number that is not negative in decimal digits.
    mutating func writeDecimal(_ number: Int64) throws(FramingError) {
      let number = max(0, number)
      var divisor: Int64 = 1
      while number / divisor >= 10 { divisor *= 10 }
      while divisor > 0 {
        let digit = UInt8(number / divisor % 10) + UInt8(ascii: "0")
        guard count < target.count else { throw FramingError(.invalidField, "the head is longer than it was") }
        target[count] = digit
        count += 1
        divisor /= 10
      }
    }
  }
#endif
