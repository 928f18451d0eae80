import Apus
import Foundation

/// The properties of the output's terminal.
struct Terminal: Sendable, Hashable {
  /// Whether standard output is a terminal.
  var showsOutput = false
  /// Whether standard error is a terminal that supports redrawing.
  var showsErrors = false
  /// Whether colors are printed.
  var hasColors = false
  /// The number of columns.
  var width = 80

  /// Creates the properties of outputs that are not terminals.
  init() {}

  /// Returns the properties of the process's outputs.
  static func current() -> Terminal {
    let environment = ProcessInfo.processInfo.environment
    var terminal = Terminal()
    let isDumb = environment["TERM"] == "dumb"
    terminal.showsOutput = isatty(STDOUT_FILENO) == 1
    terminal.showsErrors = isatty(STDERR_FILENO) == 1 && !isDumb
    terminal.hasColors = terminal.showsOutput && !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
    var size = winsize()
    if ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { terminal.width = Int(size.ws_col) }
    return terminal
  }
}

/// The presentation of content: unchanged in a pipe or a file, formatted on a terminal.
struct Display: Sendable {
  private enum Style: Sendable {
    case raw
    /// Text on a terminal; ends with a newline, so that the shell's prompt starts a new line.
    case text(TerminalText)
    case json(JSONPrinter)
  }

  private var style: Style
  private var endsLine = true

  /// - Parameters:
  ///   - mediaType: the content's media type; `nil` if unknown.
  ///   - terminal: the terminal; `nil` for a pipe or a file.
  ///   - isRaw: whether content stays unchanged even on a terminal.
  init(_ mediaType: MediaType?, on terminal: Terminal?, isRaw: Bool) {
    guard let terminal, !isRaw else {
      style = .raw
      return
    }
    style = mediaType?.isJSON == true ? .json(JSONPrinter(hasColors: terminal.hasColors)) : .text(TerminalText())
  }

  /// Returns the output for the next piece; `nil` for binary content on a terminal.
  mutating func show(_ piece: Data) -> Data? {
    switch style {
    case .raw: return piece
    case .text(var text):
      defer { style = .text(text) }
      if piece.contains(0) { return nil }
      endsLine = piece.last == UInt8(ascii: "\n")
      var shown: [UInt8] = []
      shown.reserveCapacity(piece.count)
      for byte in piece { text.append(byte, to: &shown) }
      return Data(shown)
    case .json(var printer):
      defer { style = .json(printer) }
      return printer.print(piece)
    }
  }

  /// Returns the output at the end.
  mutating func finish() -> Data {
    switch style {
    case .raw: return Data()
    case .text(var text):
      var rest: [UInt8] = []
      text.finish(&rest)
      return Data(endsLine ? rest : rest + "\n".utf8)
    case .json(var printer): return printer.finish()
    }
  }
}
