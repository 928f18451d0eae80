import Synchronization

/// Serial numbers of calls that a test chooses, for a client's `Runtime.nextSerial`.
///
/// ```swift
/// settings.runtime.nextSerial = SerialIDs(from: 100).next
/// ```
public final class SerialIDs: Sendable {
  private let following: Mutex<UInt64>

  /// Makes numbers that count up from `first`. Default: 1.
  public init(from first: UInt64 = 1) {
    following = Mutex(first)
  }

  /// The next number.
  @Sendable public func next() -> UInt64 {
    following.withLock { number in
      defer { number += 1 }
      return number
    }
  }
}
