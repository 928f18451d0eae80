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
    // The size was measured by the same rules before. Checked again, so that no string that yields more bytes now can
    // overflow the memory.
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

  /// Writes a number in decimal digits; a negative one as 0.
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
