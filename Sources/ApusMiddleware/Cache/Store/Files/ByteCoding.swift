/// Writes numbers and texts as bytes. Numbers are little-endian; texts and bytes begin with their length.
struct ByteWriter: Sendable {
  private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: the number of bytes for which room is made.
  init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  mutating func write<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ digest: KeyedDigest) {
    write(digest.first)
    write(digest.second)
  }

  mutating func write(_ text: String) {
    write(UInt32(truncatingIfNeeded: text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// Writes bytes with their length.
  mutating func write(_ content: UnsafeRawBufferPointer) {
    write(UInt32(truncatingIfNeeded: content.count))
    bytes.append(contentsOf: content)
  }

  /// Writes an optional number of seconds or bytes.
  mutating func write(_ number: Int64?) {
    write(UInt8(number == nil ? 0 : 1))
    if let number { write(number) }
  }

  /// Writes bytes without their length.
  mutating func append(_ content: some Sequence<UInt8>) {
    bytes.append(contentsOf: content)
  }
}

/// Reads what ``ByteWriter`` has written. Never reads beyond the end.
struct ByteReader {
  /// The bytes are damaged, or end too early.
  struct Failure: Error {}

  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    rest = bytes
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Failure) -> Number {
    let taken = try take(MemoryLayout<Number>.size)
    return Number(littleEndian: taken.loadUnaligned(as: Number.self))
  }

  mutating func digest() throws(Failure) -> KeyedDigest {
    KeyedDigest(first: try number(), second: try number())
  }

  mutating func optionalNumber() throws(Failure) -> Int64? {
    try number(UInt8.self) == 0 ? nil : try number(Int64.self)
  }

  /// Reads bytes with their length.
  mutating func bytes() throws(Failure) -> UnsafeRawBufferPointer {
    try take(Int(try number(UInt32.self)))
  }

  mutating func text() throws(Failure) -> String {
    String(decoding: try bytes(), as: UTF8.self)
  }

  /// Reads the number of elements of a list.
  ///
  /// - Parameter size: the smallest size of an element in bytes.
  mutating func count(ofSize size: Int) throws(Failure) -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= rest.count / size else { throw Failure() }
    return count
  }

  /// Reads a number of bytes.
  mutating func take(_ count: Int) throws(Failure) -> UnsafeRawBufferPointer {
    guard count <= rest.count else { throw Failure() }
    let taken = UnsafeRawBufferPointer(rebasing: rest[..<count])
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    return taken
  }
}
