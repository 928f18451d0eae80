#if NIO
  /// A running 64-bit digest of content, to compare large content without keeping it.
  ///
  /// FNV-1a over little-endian 64-bit words, the last one padded with zeros, then the length. It depends on the bytes
  /// alone, not on how they were cut. Good for finding differences, of no use against an attacker.
  public struct ContentDigest: Sendable, Hashable {
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private var word: UInt64 = 0
    private var length = 0

    /// The digest of no content.
    public init() {}

    /// The digest of `bytes`.
    public init(of bytes: some Sequence<UInt8>) {
      update(with: bytes)
    }

    /// Takes in more bytes.
    public mutating func update(with bytes: some Sequence<UInt8>) {
      if bytes.withContiguousStorageIfAvailable({ update(with: UnsafeRawBufferPointer($0)) }) == nil {
        for byte in bytes { update(with: byte) }
      }
    }

    /// The digest of all bytes so far.
    public var value: UInt64 {
      let last = length % 8 == 0 ? hash : Self.mix(hash, word)
      return Self.mix(last, UInt64(length))
    }

    /// Whether the same bytes were taken in.
    public static func == (one: Self, other: Self) -> Bool { one.value == other.value }

    /// Hashes the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }

    /// Whole words at a time where it can: uploads of hundreds of megabytes go through here in debug builds.
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
#endif
