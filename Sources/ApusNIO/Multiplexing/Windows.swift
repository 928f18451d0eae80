import NIOCore

/// A flow-control window of the server: the number of content bytes that may still be sent on a stream or on the whole
/// connection (RFC 9113 §5.2). Negative if SETTINGS_INITIAL_WINDOW_SIZE shrank after more bytes had been sent.
struct SendWindow: Sendable, Hashable {
  private(set) var available: Int

  init(_ size: Int) {
    available = size
  }

  mutating func take(_ count: Int) {
    available -= count
  }

  /// Changes the window. Returns `false` if the window then exceeds 2³¹ − 1.
  mutating func change(by count: Int) -> Bool {
    available += count
    return available <= Int(Int32.max)
  }
}

/// The flow-control window of one stream for content that arrives (RFC 9113 §5.2).
///
/// `available` and the bytes that arrived and are not announced as consumed always add up to `target`, which the server
/// knows. The window doubles while its reader keeps up: if half of it is consumed within two round trips.
struct ReceiveWindow: Sendable {
  static let initial = 1 << 20
  static let maximum = 8 << 20

  /// The size of the window that the server knows.
  private(set) var target = initial
  /// The number of bytes that the server may still send.
  private(set) var available = initial
  /// The number of consumed bytes that the server does not know about yet.
  private var consumed = 0
  /// The instant of the last update, or of the first bytes.
  private var updatedAt: NIODeadline?

  /// Receives bytes, including padding. Returns `false` if the server exceeded the window.
  mutating func receive(_ count: Int, now: NIODeadline) -> Bool {
    if updatedAt == nil { updatedAt = now }
    available -= count
    return available >= 0
  }

  /// Whether an update is due once the reader has consumed a number of further bytes.
  func isUpdateDue(after count: Int) -> Bool { consumed + count >= target / 2 }

  /// Adds bytes that the reader has consumed. Returns the increment to announce; `nil` if it is not due yet.
  ///
  /// - Parameters:
  ///   - roundTrip: the connection's round-trip time.
  ///   - growth: the maximum number of bytes by which the window may grow.
  mutating func consume(_ count: Int, now: NIODeadline, roundTrip: TimeAmount, growth: Int) -> Int? {
    let isDue = isUpdateDue(after: count)
    consumed += count
    guard isDue else { return nil }
    var increment = consumed
    if let updatedAt, now - updatedAt <= .nanoseconds(2 * roundTrip.nanoseconds) {
      let added = min(target, Self.maximum - target, growth)
      target += added
      increment += added
    }
    available += increment
    (consumed, updatedAt) = (0, now)
    return increment
  }
}

/// The flow-control window of the connection for content that arrives (RFC 9113 §5.2).
///
/// The window limits the memory for content that its readers have not consumed. Content that is discarded, and padding,
/// is consumed at once.
struct ConnectionWindow: Sendable {
  static let size = 16 << 20
  /// The initial size, which only WINDOW_UPDATE can change (RFC 9113 §6.9.2).
  static let initial = 65_535

  /// The number of bytes that the server may still send.
  private(set) var available = size
  /// The number of consumed bytes that the server does not know about yet.
  private var consumed = 0

  /// The number of bytes that have arrived and are not consumed.
  var unread: Int { Self.size - available - consumed }

  /// Receives bytes, including padding. Returns `false` if the server exceeded the window.
  mutating func receive(_ count: Int) -> Bool {
    available -= count
    return available >= 0
  }

  mutating func consume(_ count: Int) {
    consumed += count
  }

  /// Returns the increment to announce; `nil` if it is not due yet.
  ///
  /// An increment is due once the consumed bytes exceed what the server may still send. A fixed share of the window
  /// would never be consumed while stopped readers leave too many bytes unread.
  mutating func update() -> Int? {
    guard consumed > 0, consumed >= available else { return nil }
    defer { consumed = 0 }
    available += consumed
    return consumed
  }
}
