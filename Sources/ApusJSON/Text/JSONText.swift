/// A growing text in UTF-8.
struct JSONText: ~Copyable {
  private var bytes: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = max(capacity, 64)
    bytes = .allocate(byteCount: self.capacity, alignment: 8)
  }

  deinit { bytes.deallocate() }

  /// All bytes.
  var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

  @inline(__always) func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    precondition(start >= 0 && start <= end && end <= count)
    return UnsafeRawBufferPointer(start: bytes + start, count: end - start)
  }

  /// Returns the first eight bytes of a slice, with the first byte in the highest bits; a shorter slice is padded with
  /// zeros.
  @inline(__always) mutating func prefix(from start: Int, to end: Int) -> UInt64 {
    reserve(8)
    let prefix = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    return end - start >= 8 ? prefix : prefix & ~(UInt64.max >> UInt64((end - start) * 8))
  }

  @inline(__always) mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(more) }
  }

  @inline(never) private mutating func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    moved.copyMemory(from: bytes, byteCount: count)
    bytes.deallocate()
    (bytes, capacity) = (moved, larger)
  }

  @inline(__always) mutating func append(_ byte: UInt8) {
    reserve(1)
    bytes.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always) mutating func append(_ other: UnsafeRawBufferPointer) {
    guard let start = other.baseAddress else { return }
    reserve(other.count)
    (bytes + count).copyMemory(from: start, byteCount: other.count)
    count += other.count
  }

  @inline(__always) mutating func append(_ literal: StaticString) {
    append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  /// Appends the name of a member of at most 16 bytes, with a comma before it unless it is the first member.
  @inline(__always) mutating func append(name one: UInt64, _ two: UInt64, _ count: Int, isFirst: Bool) {
    reserve(20)
    let start = self.count
    let length = isFirst ? 1 : 2
    bytes.storeBytes(of: UInt16(isFirst ? 0x22 : 0x222C).littleEndian, toByteOffset: start, as: UInt16.self)
    bytes.storeBytes(of: one.littleEndian, toByteOffset: start + length, as: UInt64.self)
    bytes.storeBytes(of: two.littleEndian, toByteOffset: start + length + 8, as: UInt64.self)
    bytes.storeBytes(of: UInt16(0x3A22).littleEndian, toByteOffset: start + length + count, as: UInt16.self)
    self.count = start + length + count + 2
  }

  // MARK: Numbers

  mutating func append(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(value.magnitude)
  }

  mutating func append(_ value: UInt64) {
    reserve(20)
    var (value, digits, probe) = (value, 1, value)
    while probe >= 10 { (probe, digits) = (probe / 10, digits + 1) }
    var index = count + digits
    count = index
    repeat {
      index -= 1
      let (quotient, digit) = value.quotientAndRemainder(dividingBy: 10)
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: digit) + UInt8(ascii: "0"), toByteOffset: index, as: UInt8.self)
      value = quotient
    } while value > 0
  }

  @inline(__always) mutating func append(unquoted text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends a finite number with the fewest digits that represent it. An integer is written without a fraction.
  mutating func append(number: some TextOutputStreamable) {
    withUnsafeMutablePointer(to: &self) { text in
      var digits = Digits(text: text)
      number.write(to: &digits)
    }
    if slice(max(0, count - 2), count).elementsEqual(".0".utf8) { count -= 2 }
  }

  /// A stream that appends the digits of a number to a text.
  private struct Digits: TextOutputStream {
    let text: UnsafeMutablePointer<JSONText>

    func write(_ string: String) { text.pointee.append(unquoted: string) }

    // The standard library calls this function instead of `write(_:)`, which avoids a string for each number. If a
    // later version does not, the output is the same.
    func _writeASCII(_ digits: UnsafeBufferPointer<UInt8>) { text.pointee.append(UnsafeRawBufferPointer(digits)) }
  }

  // MARK: Strings

  /// Appends a string in quotation marks.
  @inline(__always) mutating func append(quoted string: String) {
    var string = string
    string.withUTF8 { append(quoted: UnsafeRawBufferPointer($0)) }
  }

  mutating func append(quoted utf8: UnsafeRawBufferPointer) {
    // Reserves eight additional bytes, so that eight bytes can be read from each offset of the copy.
    reserve(utf8.count + 10)
    bytes.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count, as: UInt8.self)
    count += 1
    if let start = utf8.baseAddress { (bytes + count).copyMemory(from: start, byteCount: utf8.count) }
    var index = 0
    while index < utf8.count {
      var special = Self.specialBytes(
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: count + index, as: UInt64.self)))
      if utf8.count - index < 8 { special &= 1 << UInt64((utf8.count - index) * 8) - 1 }
      if special != 0 { return appendRest(utf8, from: index + special.trailingZeroBitCount >> 3) }
      index += 8
    }
    count += utf8.count
    append(UInt8(ascii: "\""))
  }

  /// Appends the rest of a string, from its first byte that needs an escape.
  private mutating func appendRest(_ utf8: UnsafeRawBufferPointer, from first: Int) {
    count += first
    var start = first
    for index in first..<utf8.count {
      let byte = utf8[index]
      switch byte {
      case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): break
      default: continue
      }
      append(UnsafeRawBufferPointer(rebasing: utf8[start..<index]))
      append(escaped: byte)
      start = index + 1
    }
    append(UnsafeRawBufferPointer(rebasing: utf8[start...]))
    append(UInt8(ascii: "\""))
  }

  /// Marks the high bits of bytes that need an escape; zero if no byte needs an escape.
  @inline(__always) private static func specialBytes(_ bytes: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = bytes ^ (ones &* 0x22)
    let escapes = bytes ^ (ones &* 0x5C)
    let special = ((bytes &- ones &* 0x20) & ~bytes) | ((quotes &- ones) & ~quotes) | ((escapes &- ones) & ~escapes)
    return special & (ones &* 0x80)
  }

  private mutating func append(escaped byte: UInt8) {
    switch byte {
    case 0x08: append(#"\b"#)
    case 0x0C: append(#"\f"#)
    case 0x0A: append(#"\n"#)
    case 0x0D: append(#"\r"#)
    case 0x09: append(#"\t"#)
    case 0..<0x20:
      append(#"\u00"#)
      append(UInt8(ascii: "0") + byte >> 4)
      append(byte & 0xF < 10 ? UInt8(ascii: "0") + byte & 0xF : UInt8(ascii: "a") + byte & 0xF - 10)
    default:
      append(UInt8(ascii: "\\"))
      append(byte)
    }
  }
}
