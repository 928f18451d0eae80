import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

/// Tests of the tool's parsers, with long inputs on which the parsers might backtrack.
@Suite("Parsers of the tool take linear time", .serialized)
struct ParserTimeFuzzTests {
  @Test(
    "Parsing a URL takes linear time",
    arguments: [
      ("/", "http://h"), ("../", "http://h/"), ("a/", "http://h/"), ("%2e%2e/", "http://h/"), ("@", "http://"),
      (":", "http://"), ("%41", "http://"), ("%41@h", "http://"), ("#", "http://h/"), ("?", "http://h"),
      ("é", "http://h/"),
      ("\u{301}", "http://h/"), ("a", ""), ("://", ""), ("a", "http://u:"), (".", "http://"), ("[", "http://"),
    ])
  func urls(piece: String, start: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece, after: start)) { text in
        _ = try? TargetURL(text, completesScheme: true)
        _ = try? TargetURL(word: text, relativeTo: Origin(scheme: "https", host: "h", port: 443))
      })
  }

  @Test(
    "Filtering and formatting text for a terminal takes linear time",
    arguments: ["\u{1B}", "\u{9B}", "\r", "\u{202E}", "é", "a", "\"", "{\"a\":[", "\\"])
  func terminal(piece: String) {
    let make: (Int) -> Data = { Data(LinearTime.repeating(piece)($0).utf8) }
    #expect(
      LinearTime.holds(for: make) { bytes in
        _ = TerminalText.harmless(bytes)
        var printer = JSONPrinter(hasColors: false)
        _ = printer.print(bytes)
        _ = printer.finish()
      })
  }

  @Test("Parsing an item of the command line takes linear time", arguments: [":", "=", " ", "a", "\u{301}", "://"])
  func items(piece: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece)) { text in
        _ = Item.isItem(text)
        _ = Item.trimmed(text)
        _ = try? Item("a:" + text)
        _ = Pin(text)
      })
  }
}
