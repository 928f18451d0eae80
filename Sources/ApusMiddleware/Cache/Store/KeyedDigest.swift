/// A digest of 128 bits with a secret key. Without the key, nobody can find two inputs with the same digest, or the
/// input of a digest.
struct KeyedDigest: Hashable, Sendable {
  let first: UInt64
  let second: UInt64

  /// All bits are random already, so a part of them suffices.
  func hash(into hasher: inout Hasher) {
    hasher.combine(first)
  }
}

/// The key of digests.
struct DigestKey: Hashable, Sendable {
  let first: UInt64
  let second: UInt64

  /// Returns a random key.
  static func random() -> DigestKey {
    var generator = SystemRandomNumberGenerator()
    return DigestKey(first: generator.next(), second: generator.next())
  }

  /// Returns another key that depends on this one, for digests of another kind.
  func derived(_ number: UInt64) -> DigestKey {
    var hasher = KeyedHasher(self)
    hasher.combine("derived")
    hasher.combine(number)
    let digest = hasher.finish()
    return DigestKey(first: digest.first, second: digest.second)
  }
}

/// A hash function with a key, SipHash-2-4 with a result of 128 bits.
///
/// The function resists inputs that are chosen to collide, which the hash functions of collections do not promise for
/// stored values. Texts are added with their lengths, so that different sequences of values have different digests; the
/// last one needs none.
struct KeyedHasher: Sendable {
  private var state: State
  /// The number of bytes that were added, of which the lowest eight bits are part of the digest.
  private var count: UInt64 = 0

  init(_ key: DigestKey) {
    state = State(key)
  }

  /// Returns the digest of bytes.
  static func digest(_ bytes: UnsafeRawBufferPointer, _ key: DigestKey) -> KeyedDigest {
    var hasher = KeyedHasher(key)
    return hasher.finish(bytes)
  }

  // MARK: Values

  /// Adds a number.
  mutating func combine(_ number: UInt64) {
    count &+= 8
    state.absorb(number)
  }

  /// Adds a digest.
  mutating func combine(_ digest: KeyedDigest) {
    combine(digest.first)
    combine(digest.second)
  }

  /// Adds a text.
  mutating func combine(_ text: String) {
    combine(UInt64(text.utf8.count))
    combineUncounted(text)
  }

  /// Adds a text whose length was added before.
  mutating func combineUncounted(_ text: String) {
    let isAdded: Void? = text.utf8.withContiguousStorageIfAvailable { combineUncounted(UnsafeRawBufferPointer($0)) }
    if isAdded == nil { Array(text.utf8).withUnsafeBytes { combineUncounted($0) } }
  }

  /// Adds bytes.
  mutating func combine(_ bytes: UnsafeRawBufferPointer) {
    combine(UInt64(bytes.count))
    combineUncounted(bytes)
  }

  private mutating func combineUncounted(_ bytes: UnsafeRawBufferPointer) {
    let rest = absorbWords(of: bytes)
    guard rest > 0 else { return }
    // Bytes fill whole words; the length tells them apart from longer ones.
    combine(Self.word(bytes, last: rest))
  }

  /// Returns the digest. The hasher must not be used afterwards.
  mutating func finish() -> KeyedDigest {
    finish(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Returns the digest after a last text, whose length need not be added. The hasher must not be used afterwards.
  mutating func finish(_ last: String) -> KeyedDigest {
    let digest = last.utf8.withContiguousStorageIfAvailable { finish(UnsafeRawBufferPointer($0)) }
    return digest ?? Array(last.utf8).withUnsafeBytes { finish($0) }
  }

  private mutating func finish(_ last: UnsafeRawBufferPointer) -> KeyedDigest {
    let rest = absorbWords(of: last)
    state.absorb((count &+ UInt64(rest)) << 56 | Self.word(last, last: rest))
    return state.finish()
  }

  // MARK: Words

  /// Adds the whole words of bytes. Returns the number of bytes after them, less than 8.
  private mutating func absorbWords(of bytes: UnsafeRawBufferPointer) -> Int {
    let rest = bytes.count & 7
    let end = bytes.count &- rest
    // A local copy stays in registers.
    var state = state
    var offset = 0
    while offset < end {
      state.absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset &+= 8
    }
    self.state = state
    count &+= UInt64(truncatingIfNeeded: end)
    return rest
  }

  /// Returns the last bytes, less than 8, as a number.
  private static func word(_ bytes: UnsafeRawBufferPointer, last rest: Int) -> UInt64 {
    var offset = bytes.count &- rest
    var word: UInt64 = 0
    var shift: UInt64 = 0
    if rest & 4 != 0 {
      word = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      (offset, shift) = (offset &+ 4, 32)
    }
    if rest & 2 != 0 {
      let half = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
      word |= UInt64(half) &<< shift
      (offset, shift) = (offset &+ 2, shift &+ 16)
    }
    if rest & 1 != 0 { word |= UInt64(bytes[offset]) &<< shift }
    return word
  }
}

extension KeyedHasher {
  /// The four words of the algorithm.
  private struct State: Sendable {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ key: DigestKey) {
      v0 = key.first ^ 0x736F_6D65_7073_6575
      v1 = key.second ^ 0x646F_7261_6E64_6F83
      v2 = key.first ^ 0x6C79_6765_6E65_7261
      v3 = key.second ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> KeyedDigest {
      v2 ^= 0xEE
      for _ in 0..<4 { round() }
      let first = v0 ^ v1 ^ v2 ^ v3
      v1 ^= 0xDD
      for _ in 0..<4 { round() }
      return KeyedDigest(first: first, second: v0 ^ v1 ^ v2 ^ v3)
    }

    @inline(__always)
    private mutating func round() {
      v0 &+= v1
      v1 = Self.rotated(v1, 13) ^ v0
      v0 = Self.rotated(v0, 32)
      v2 &+= v3
      v3 = Self.rotated(v3, 16) ^ v2
      v0 &+= v3
      v3 = Self.rotated(v3, 21) ^ v0
      v2 &+= v1
      v1 = Self.rotated(v1, 17) ^ v2
      v2 = Self.rotated(v2, 32)
    }

    @inline(__always)
    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word &<< bits | word &>> (64 &- bits) }
  }
}
