import Apus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How content is shown where it goes: as it came in a pipe or a file, readable on a terminal.
struct Display: Sendable {
  private enum Style: Sendable {
    case raw
    /// Text on a terminal, where the shell's prompt follows on a line of its own.
    case text(TerminalText)
    case json(JSONPrinter)
  }

  private var style: Style
  private var endsLine = true

  /// - Parameters:
  ///   - mediaType: what the server says it is.
  ///   - terminal: where it is shown; `nil`: not on a terminal.
  ///   - isRaw: whether it is shown as it came all the same.
  init(_ mediaType: MediaType?, on terminal: Terminal?, isRaw: Bool) {
    guard let terminal, !isRaw else {
      style = .raw
      return
    }
    style = mediaType?.isJSON == true ? .json(JSONPrinter(hasColours: terminal.hasColours)) : .text(TerminalText())
  }

  /// What to write for the next piece; `nil` for one that would do a terminal harm.
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

  /// What to write at the end.
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
