/// The demo's output: lines of text, with colors and redrawn lines if the terminal supports them.
struct Stage: Sendable {
  /// Whether the output is a terminal: then lines are redrawn, and scenes pause so that they can be read.
  let isTerminal: Bool
  /// Whether to print colors.
  var hasColor = false
  let write: @Sendable (String) -> Void

  private enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case cyan = "36"
    case heading = "1;34"
  }

  private func styled(_ text: String, _ style: Style) -> String {
    hasColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Prints the demo's title.
  func headline(_ text: String) {
    write("\(styled(text, .bold))\n\(styled(String(repeating: "═", count: text.count), .dim))\n\n")
  }

  /// Prints an explanation of the styles and signs.
  func legend() {
    say("\(styled("“Text”", .cyan))  what the user of an app reads, with the error's code for developers")
    say("\(styled("· note", .dim))  details for developers")
    say("\(styled("✓", .green)) \(styled("✗", .red))     an expectation that is met, or not met")
  }

  /// Prints the title of a chapter.
  func chapter(_ text: String) {
    let rule = String(repeating: "━", count: max(3, 72 - text.count))
    write("\n\(styled("━━ \(text) \(rule)", .heading))\n")
  }

  /// Prints the title of a scene.
  func title(_ text: String) {
    write("\n\(styled("▸ \(text)", .bold))\n")
  }

  /// Prints an action or the screen of an app.
  func say(_ text: String) {
    write(text.isEmpty ? "\n" : "  \(text)\n")
  }

  /// Prints a sentence for the user, and its technical cause.
  func reads(_ sentence: String, cause: String = "") {
    write("  \(styled("“\(sentence)”", .cyan))\(cause.isEmpty ? "" : "  " + styled("(\(cause))", .dim))\n")
  }

  /// Prints a detail for developers.
  func note(_ text: String) {
    write("  \(styled("· \(text)", .dim))\n")
  }

  /// Redraws the current line on a terminal; otherwise prints nothing until ``finishProgress(_:)``.
  func progress(_ text: String) {
    if isTerminal { write("\r\u{1B}[K  \(text)") }
  }

  /// Replaces a line drawn by ``progress(_:)`` with its final text.
  func finishProgress(_ text: String) {
    if isTerminal { write("\r\u{1B}[K") }
    say(text)
  }

  /// Erases the last lines on a terminal.
  func erase(lines count: Int) {
    if isTerminal, count > 0 { write("\u{1B}[\(count)A\r\u{1B}[J") }
  }

  /// Prints a row of the closing table.
  func row(_ check: Check, line: String) {
    write("  \(styled(line, check.isMet ? .green : .red))\n")
  }

  /// Prints the result of the demo.
  func result(_ text: String, isSuccess: Bool) {
    write("  \(styled(text, isSuccess ? .green : .red))\n")
  }

  /// Pauses on a terminal, so that a scene can be read.
  func pause() async throws {
    if isTerminal { try await Task.sleep(for: .milliseconds(500)) }
  }
}

extension Stage {
  /// Returns a progress bar, for example `▓▓▓░░░`.
  static func bar(_ done: Int, of total: Int, width: Int = 20) -> String {
    let filled = total > 0 ? min(width, max(0, width * done / total)) : width
    return String(repeating: "▓", count: filled) + String(repeating: "░", count: width - filled)
  }
}

extension String {
  /// Returns the text with spaces appended up to a width.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
