/// Where the demo is played: prints lines, with colours and redrawn lines on a terminal only.
struct Stage: Sendable {
  /// Whether a person watches: then there are colours, moving lines and time to read.
  let isTerminal: Bool
  let write: @Sendable (String) -> Void

  private enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case cyan = "36"
  }

  private func styled(_ text: String, _ style: Style) -> String {
    isTerminal ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Begins a scene.
  func title(_ text: String) {
    write("\n\(styled("— \(text)", .bold))\n")
  }

  /// What an app does or shows.
  func say(_ text: String) {
    write("  \(text)\n")
  }

  /// A sentence that the person using the app reads, and for whom reads this what lies behind it.
  func reads(_ sentence: String, behind: String = "") {
    write("  \(styled("“\(sentence)”", .cyan))\(behind.isEmpty ? "" : "  " + styled("(\(behind))", .dim))\n")
  }

  /// What only a developer wants to know.
  func note(_ text: String) {
    write("  \(styled(text, .dim))\n")
  }

  /// A line that is drawn anew; off a terminal nothing is drawn until ``settle(_:)``.
  func progress(_ text: String) {
    if isTerminal { write("\r\u{1B}[K  \(text)") }
  }

  /// The last state of a line that was drawn anew.
  func settle(_ text: String) {
    if isTerminal { write("\r\u{1B}[K") }
    say(text)
  }

  /// Takes lines back that were said last, on a terminal.
  func erase(lines count: Int) {
    if isTerminal, count > 0 { write("\u{1B}[\(count)A\r\u{1B}[J") }
  }

  /// One row of the closing table.
  func row(_ check: Check, line: String) {
    write("  \(styled(line, check.isMet ? .green : .red))\n")
  }

  /// Time to read, where somebody does.
  func pause() async throws {
    if isTerminal { try await Task.sleep(for: .milliseconds(500)) }
  }
}

extension Stage {
  /// `▓▓▓░░░`
  static func bar(_ done: Int, of total: Int, width: Int = 20) -> String {
    let filled = total > 0 ? min(width, max(0, width * done / total)) : width
    return String(repeating: "▓", count: filled) + String(repeating: "░", count: width - filled)
  }
}
