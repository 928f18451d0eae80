import Foundation

/// What is known of where output goes.
struct Terminal: Sendable, Hashable {
  /// Whether standard output is one.
  var showsOutput = false
  /// Whether standard error is one, which can be drawn on.
  var showsErrors = false
  /// Whether colours are wanted.
  var hasColours = false
  /// Columns.
  var width = 80

  /// Nothing is a terminal.
  init() {}

  /// What the process was started with.
  static func current() -> Terminal {
    let environment = ProcessInfo.processInfo.environment
    var terminal = Terminal()
    let isDumb = environment["TERM"] == "dumb"
    terminal.showsOutput = isatty(STDOUT_FILENO) == 1
    terminal.showsErrors = isatty(STDERR_FILENO) == 1 && !isDumb
    terminal.hasColours = terminal.showsOutput && !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
    var size = winsize()
    if ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { terminal.width = Int(size.ws_col) }
    return terminal
  }
}
