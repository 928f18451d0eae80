import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The text of an event of an event stream.
enum EventText {
  /// Returns a line of JSON.
  static func line(_ event: ServerSentEvent) -> Data {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(event.data.count + event.data.count / 8 + 64)
    for (opening, text) in [("{\"event\":", event.name), (",\"id\":", event.id), (",\"data\":", event.text)] {
      bytes += opening.utf8
      JSONText.appendQuoted(text.utf8, to: &bytes)
    }
    bytes += "}\n".utf8
    return Data(bytes)
  }

  /// Returns the text for a terminal: a line with name and ID, the data, and an empty line. JSON data is formatted, and
  /// control characters are escaped.
  static func shown(_ event: ServerSentEvent, hasColors: Bool) -> Data {
    let title = TerminalText.harmless(event.id.isEmpty ? event.name : "\(event.name) \(event.id)", keepsLines: false)
    var text = Data((hasColors ? "\u{1B}[1m\(title)\u{1B}[0m\n" : "\(title)\n").utf8)
    guard !event.data.isEmpty else { return text + Data("\n".utf8) }
    let isJSON = event.data.first.map { "{[".utf8.contains($0) } ?? false
    var display = Display(
      isJSON && JSONText.isValid(event.text) ? .json : .text, on: Self.terminal(hasColors: hasColors), isRaw: false)
    // Binary data is escaped like any other control characters.
    text += display.show(event.data) ?? TerminalText.harmless(event.data)
    text += display.finish()
    return text + Data("\n".utf8)
  }

  private static func terminal(hasColors: Bool) -> Terminal {
    var terminal = Terminal()
    (terminal.showsOutput, terminal.hasColors) = (true, hasColors)
    return terminal
  }
}
