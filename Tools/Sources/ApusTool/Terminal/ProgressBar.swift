/// A progress bar on one line that is redrawn.
///
/// A pure value: it receives progress and time, and returns the text to write.
struct ProgressBar: Sendable, Hashable {
  /// The direction of a transfer.
  enum Direction: String, Sendable, Hashable {
    case sent, received
  }

  /// The progress of a transfer.
  struct Transfer: Sendable, Hashable {
    var direction: Direction
    var bytes: Int64
    /// The total number of bytes; `nil` if unknown.
    var total: Int64?
    /// The present rate; `nil` for the average since the start.
    var bytesPerSecond: Double?
  }

  /// The number of columns of the terminal.
  let width: Int
  /// The time before the first drawing: shorter transfers are not drawn.
  static let initialDelay = Duration.seconds(1)
  /// The time between two drawings.
  static let interval = Duration.milliseconds(100)

  private var drawnAt: Duration?
  private var isShown = false

  init(width: Int) {
    self.width = width
  }

  /// Returns the text to write; `nil` when it is too early to redraw.
  mutating func update(_ transfer: Transfer, elapsed: Duration) -> String? {
    guard elapsed >= Self.initialDelay else { return nil }
    if let drawnAt, elapsed < drawnAt + Self.interval { return nil }
    drawnAt = elapsed
    isShown = true
    return "\r" + line(transfer, elapsed: elapsed) + "\u{1B}[K"
  }

  /// Returns the text that erases the line; `nil` if nothing was drawn.
  mutating func finish() -> String? {
    defer { isShown = false }
    return isShown ? "\r\u{1B}[K" : nil
  }

  /// Returns the line, at most as wide as the terminal.
  func line(_ transfer: Transfer, elapsed: Duration) -> String {
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    let rate = transfer.bytesPerSecond ?? (seconds > 0 ? Double(transfer.bytes) / seconds : 0)
    let pace = "\(Self.size(Int64(min(rate, 1e18))))/s"
    guard let total = transfer.total, total > 0 else {
      return fitted("\(transfer.direction.rawValue) \(Self.size(transfer.bytes))  \(pace)")
    }
    let share = min(1, max(0, Double(transfer.bytes) / Double(total)))
    let percent = "\(Int(share * 100))%"
    let margin = String(repeating: " ", count: max(0, 4 - percent.count))
    var tail = " \(margin)\(percent)  \(Self.size(transfer.bytes)) of \(Self.size(total))  \(pace)"
    if rate > 0, transfer.bytes < total { tail += "  \(Self.time(Double(total - transfer.bytes) / rate)) left" }
    let cells = min(40, width - tail.count - 3)
    guard cells >= 5 else { return fitted(String(tail.drop { $0 == " " })) }
    let full = Int(share * Double(cells))
    return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: cells - full) + "]" + tail
  }

  /// Truncates a text to one line.
  private func fitted(_ text: String) -> String {
    String(text.prefix(max(0, width - 1)))
  }

  /// Formats a number of bytes, for example `1.5 MiB`.
  static func size(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
    var value = Double(bytes) / 1024
    var units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][...]
    while value >= 1024, units.count > 1 {
      value /= 1024
      units.removeFirst()
    }
    let tenths = Int(value * 10)
    return "\(tenths / 10).\(tenths % 10) \(units.first ?? "EiB")"
  }

  /// Formats a number of seconds, for example `1:05`.
  private static func time(_ seconds: Double) -> String {
    let seconds = Int(min(seconds.rounded(.up), 359_999))
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
    let pad = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return hours > 0 ? "\(hours):\(pad(minutes)):\(pad(rest))" : "\(minutes):\(pad(rest))"
  }
}
