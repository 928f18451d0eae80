#if NIO
  import NIOCore

  extension ByteBuffer {
    /// Copies text and checks each of its bytes; answers whether all of them are allowed.
    @inline(__always)
    mutating func write(_ text: String, where isAllowed: (UInt8) -> Bool) -> Bool {
      var text = text
      return text.withUTF8 { bytes in
        writeBytes(bytes)
        for byte in bytes where !isAllowed(byte) { return false }
        return true
      }
    }

    /// Writes a number that is not negative in decimal digits.
    mutating func writeDecimal(_ number: Int64) {
      writeDigits(of: UInt64(max(0, number)), base: 10)
    }

    /// Writes a number that is not negative in hexadecimal digits.
    mutating func writeHexadecimal(_ number: Int) {
      writeDigits(of: UInt64(max(0, number)), base: 16)
    }

    private mutating func writeDigits(of number: UInt64, base: UInt64) {
      var divisor: UInt64 = 1
      while number / divisor >= base { divisor *= base }
      while divisor > 0 {
        let digit = UInt8(number / divisor % base)
        writeInteger(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
        divisor /= base
      }
    }
  }
#endif
