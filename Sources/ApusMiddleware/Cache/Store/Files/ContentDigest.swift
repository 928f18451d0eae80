/// A digest of content, many times faster than ``KeyedHasher``.
///
/// Blocks are hashed by NH, a universal hash function (RFC 4418 §5.2 with words of 64 bits), and the results by
/// ``KeyedHasher``. Different contents have the same digest with a probability of 2⁻⁶⁴.
struct ContentDigest: Sendable {
  /// The number of bytes in a block.
  private static let blockSize = 1024

  private let key: DigestKey
  /// Random numbers, one for each word of a block.
  private let words: [UInt64]

  init(_ key: DigestKey) {
    self.key = key
    words = (0..<UInt64(Self.blockSize / 16)).flatMap { number in
      var hasher = KeyedHasher(key)
      hasher.combine(number)
      let digest = hasher.finish()
      return [digest.first, digest.second]
    }
  }

  /// Returns the digest of content.
  func digest(_ content: UnsafeRawBufferPointer) -> KeyedDigest {
    var hasher = KeyedHasher(key)
    hasher.combine(UInt64(content.count))
    let pairs = content.count / 16 * 16
    var offset = 0
    words.withUnsafeBufferPointer { words in
      while offset < pairs {
        let end = min(offset + Self.blockSize, pairs)
        let sum = Self.sum(content, offset..<end, words)
        hasher.combine(sum.low)
        hasher.combine(sum.high)
        offset = end
      }
    }
    hasher.combine(UnsafeRawBufferPointer(rebasing: content[pairs...]))
    return hasher.finish()
  }

  /// Returns the sum of the products of pairs of words, to each of which a random number is added.
  private static func sum(
    _ content: UnsafeRawBufferPointer, _ range: Range<Int>, _ words: UnsafeBufferPointer<UInt64>
  ) -> (low: UInt64, high: UInt64) {
    var (low, high): (UInt64, UInt64) = (0, 0)
    var (offset, word) = (range.lowerBound, 0)
    while offset < range.upperBound {
      let first = UInt64(littleEndian: content.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let second = UInt64(littleEndian: content.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
      let product = (first &+ words[word]).multipliedFullWidth(by: second &+ words[word &+ 1])
      let (sum, isCarried) = low.addingReportingOverflow(product.low)
      low = sum
      high = high &+ product.high &+ (isCarried ? 1 : 0)
      (offset, word) = (offset &+ 16, word &+ 2)
    }
    return (low, high)
  }
}
