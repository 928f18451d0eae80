/// A running 64-bit digest of content, for comparing large content without storing it.
///
/// FNV-1a over little-endian 64-bit words, the last word padded with zeros, followed by the length. The digest depends
/// only on the bytes, not on how they were split. The digest detects differences; it is not cryptographically secure.
package struct ContentDigest: Sendable, Hashable {
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  private var word: UInt64 = 0
  private var length = 0

  /// Creates the digest of empty content.
  package init() {}

  /// Creates the digest of `bytes`.
  package init(of bytes: some Sequence<UInt8>) {
    update(with: bytes)
  }

  /// Adds more bytes.
  package mutating func update(with bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ update(with: UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { update(with: byte) }
    }
  }

  /// The digest of all bytes added so far.
  package var value: UInt64 {
    let last = length % 8 == 0 ? hash : Self.mix(hash, word)
    return Self.mix(last, UInt64(length))
  }

  /// Returns whether two digests have the same value.
  package static func == (one: Self, other: Self) -> Bool { one.value == other.value }

  /// Hashes the value.
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }

  // Processes whole words where possible, because debug builds digest uploads of hundreds of megabytes.
  private mutating func update(with bytes: UnsafeRawBufferPointer) {
    var position = 0
    while position < bytes.count, length % 8 != 0 {
      update(with: bytes[position])
      position += 1
    }
    while position + 8 <= bytes.count {
      hash = Self.mix(hash, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
      position += 8
      length += 8
    }
    while position < bytes.count {
      update(with: bytes[position])
      position += 1
    }
  }

  private mutating func update(with byte: UInt8) {
    word |= UInt64(byte) << UInt64(length % 8 * 8)
    length += 1
    guard length % 8 == 0 else { return }
    hash = Self.mix(hash, word)
    word = 0
  }

  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    (hash ^ word) &* 0x0000_0100_0000_01b3
  }
}

/// Content of any size that repeats a unit, so that its bytes need not be stored.
package struct ContentPattern: Sendable, Hashable {
  /// The repeated bytes; never empty.
  let unit: [UInt8]

  /// Creates a pattern that repeats `unit`, or a zero byte if `unit` is empty.
  package init(repeating unit: [UInt8]) {
    self.unit = unit.isEmpty ? [0] : unit
  }

  /// The bytes 0 to 250, repeated. Their number is prime, so lost or duplicated blocks of the usual sizes are detected.
  package static let counting = ContentPattern(repeating: Array(0...250))

  /// Returns the bytes at a range of offsets.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    let start = range.lowerBound % unit.count
    return Array(block(atLeast: start + range.count)[start..<start + range.count])
  }

  /// Returns the digest of the first `length` bytes, to compare with the digest of the received content.
  package func digest(of length: Int) -> ContentDigest {
    var digest = ContentDigest()
    var rest = length
    let block = block(atLeast: min(length, 1 << 16))
    while rest > 0 {
      digest.update(with: block.prefix(rest))
      rest -= min(rest, block.count)
    }
    return digest
  }

  /// Returns whole units with a total of at least `length` bytes.
  func block(atLeast length: Int) -> [UInt8] {
    // Appends a unit at a time, because appending bytes is a hundred times slower in debug builds.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + unit.count)
    while bytes.count < length { bytes += unit }
    return bytes
  }
}
