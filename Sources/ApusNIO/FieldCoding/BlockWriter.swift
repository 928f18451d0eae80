/// A writer of the integers and strings of a field block (RFC 7541 §5) into preallocated memory.
struct BlockWriter {
  private let target: UnsafeMutableRawBufferPointer
  private let huffman = Huffman.shared
  /// The number of bytes written.
  private(set) var count = 0
  /// Whether the memory was too small for all bytes.
  private(set) var isTruncated = false

  init(_ target: UnsafeMutableRawBufferPointer) {
    self.target = target
  }

  /// Returns the maximum number of bytes of a field in a field block, from the sizes of its name and value.
  static func limit(nameCount: Int, valueCount: Int) -> Int { nameCount + valueCount + 24 }

  @inline(__always)
  private mutating func write(_ byte: UInt8) {
    guard count < target.count else {
      isTruncated = true
      return
    }
    target[count] = byte
    count += 1
  }

  /// Writes an integer with a prefix of `prefix` bits. `pattern` contains the other bits of the first byte.
  @inline(__always)
  mutating func write(_ integer: Int, prefix: UInt8, pattern: UInt8) {
    let mask: UInt8 = 0xFF &>> (8 &- prefix)
    guard integer >= Int(mask) else { return write(pattern | UInt8(truncatingIfNeeded: integer)) }
    write(pattern | mask)
    var rest = UInt64(truncatingIfNeeded: integer - Int(mask))
    while rest >= 0x80 {
      write(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    write(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes a string, with Huffman coding if the coded string is shorter.
  @inline(__always)
  mutating func write(_ text: UnsafeRawBufferPointer) {
    let coded = huffman.encodedCount(text)
    if coded < text.count {
      write(coded, prefix: 7, pattern: 0x80)
      guard let place = place(coded) else { return }
      huffman.encode(text, into: place)
    } else {
      write(text.count, prefix: 7, pattern: 0)
      place(text.count)?.copyMemory(from: text)
    }
  }

  /// Writes a number as a string of decimal digits. A negative number is written as 0.
  mutating func writeDecimal(_ number: Int64) {
    let number = max(0, number)
    var (divisor, digits): (Int64, Int) = (1, 1)
    while number / divisor >= 10 { (divisor, digits) = (divisor * 10, digits + 1) }
    write(digits, prefix: 7, pattern: 0)
    while divisor > 0 {
      write(UInt8(truncatingIfNeeded: number / divisor % 10) + UInt8(ascii: "0"))
      divisor /= 10
    }
  }

  @inline(__always)
  private mutating func place(_ bytes: Int) -> UnsafeMutableRawBufferPointer? {
    guard bytes <= target.count - count else {
      isTruncated = true
      return nil
    }
    defer { count += bytes }
    return UnsafeMutableRawBufferPointer(rebasing: target[count..<count + bytes])
  }
}
