/// A search for single bytes, 32 and then 8 bytes at a time.
enum ByteSearch {
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")

  private static let low: UInt64 = 0x0101_0101_0101_0101
  private static let high: UInt64 = 0x8080_8080_8080_8080

  /// Returns the index of the first CR or LF at or after `start`, or the number of bytes if there is none.
  static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let count = bytes.count
    var index = start
    while index &+ 32 <= count {
      // CR and LF are below 0x0E, and text contains few other bytes below 0x0E.
      let small =
        below(bytes.word(at: index)) | below(bytes.word(at: index &+ 8)) | below(bytes.word(at: index &+ 16))
        | below(bytes.word(at: index &+ 24))
      guard small != 0 else {
        index &+= 32
        continue
      }
      let end = index &+ 32
      while index < end {
        let found = lineEnds(bytes.word(at: index))
        if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
        index &+= 8
      }
    }
    while index &+ 8 <= count {
      let found = lineEnds(bytes.word(at: index))
      if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < count, bytes[index] != lineFeed, bytes[index] != carriageReturn { index &+= 1 }
    return index
  }

  /// Returns the index of the first byte that equals `byte` at or after `start`, or the number of bytes if there is
  /// none.
  static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let count = bytes.count
    let pattern = low &* UInt64(byte)
    var index = start
    while index &+ 32 <= count {
      let first = zeros(bytes.word(at: index) ^ pattern)
      let second = zeros(bytes.word(at: index &+ 8) ^ pattern)
      let third = zeros(bytes.word(at: index &+ 16) ^ pattern)
      let fourth = zeros(bytes.word(at: index &+ 24) ^ pattern)
      if first | second | third | fourth != 0 { break }
      index &+= 32
    }
    while index &+ 8 <= count {
      let found = zeros(bytes.word(at: index) ^ pattern)
      if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < count, bytes[index] != byte { index &+= 1 }
    return index
  }

  // The following functions mark bytes of a word with their highest bit. The lowest mark is always right. Marks above
  // it may be wrong, because a subtraction borrows from the byte above. A word without such bytes has no mark.

  private static func zeros(_ word: UInt64) -> UInt64 { (word &- low) & ~word & high }

  private static func lineEnds(_ word: UInt64) -> UInt64 {
    zeros(word ^ (low &* UInt64(lineFeed))) | zeros(word ^ (low &* UInt64(carriageReturn)))
  }

  /// Marks bytes below 0x0E.
  private static func below(_ word: UInt64) -> UInt64 { (word &- low &* 0x0E) & ~word & high }
}

extension UnsafeRawBufferPointer {
  /// Returns eight bytes as a word, with the first byte in the lowest position.
  fileprivate func word(at index: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Returns the bytes in a range, as a buffer that begins at index 0.
  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range])
  }

  /// Whether all bytes are JSON white space (RFC 8259 §2).
  var isJSONSpace: Bool { allSatisfy { $0.isJSONSpace } }
}

extension UInt8 {
  /// Whether the byte is JSON white space (RFC 8259 §2).
  var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
