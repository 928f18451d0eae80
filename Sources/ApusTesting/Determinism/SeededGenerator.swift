import Synchronization

/// A generator whose numbers are the same in every run with the same seed.
///
/// xoshiro256**, seeded by SplitMix64. For tests only: the numbers are predictable.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  /// Creates a generator; each seed yields a different sequence.
  public init(seed: UInt64) {
    var filler = seed
    func fill() -> UInt64 {
      filler &+= 0x9E37_79B9_7F4A_7C15
      var mixed = filler
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
    state = (fill(), fill(), fill(), fill())
  }

  /// Returns the next 64 random bits.
  public mutating func next() -> UInt64 {
    let product = state.1 &* 5
    let result = ((product << 7) | (product >> 57)) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = (state.3 << 45) | (state.3 >> 19)
    return result
  }

  /// Returns a thread-safe source for a client's `Runtime.random`.
  public static func source(seed: UInt64) -> @Sendable () -> UInt64 {
    let source = Source(seed: seed)
    return { source.next() }
  }

  private final class Source: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) {
      generator = Mutex(SeededGenerator(seed: seed))
    }

    func next() -> UInt64 { generator.withLock { $0.next() } }
  }
}

/// Predictable serial numbers of calls, for a client's `Runtime.nextSerial`.
///
/// ```swift
/// settings.runtime.nextSerial = SerialNumbers(from: 100).next
/// ```
package final class SerialNumbers: Sendable {
  private let following: Mutex<UInt64>

  /// Creates a source that counts up from `first`. Default: 1.
  package init(from first: UInt64 = 1) {
    following = Mutex(first)
  }

  /// Returns the next number. Thread-safe.
  @Sendable package func next() -> UInt64 {
    following.withLock { number in
      defer { number += 1 }
      return number
    }
  }
}
