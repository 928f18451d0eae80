import Foundation
import Testing

@testable import ApusTool

/// Text from servers on a terminal.
@Suite("Text on a terminal")
struct TerminalTextTests {
  private func shown(_ bytes: [UInt8], keepsLines: Bool = true) -> [UInt8] {
    Array(TerminalText.harmless(Data(bytes), keepsLines: keepsLines))
  }

  @Test("Control characters are escaped; newlines and tabs are kept")
  func controls() {
    for byte in UInt8.min..<0x20 where byte != 0x0A && byte != 0x09 {
      #expect(shown([0x41, byte, 0x42]) == Array("A\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))B".utf8))
    }
    #expect(shown([0x7F]) == Array(#"\u007f"#.utf8))
    #expect(shown(Array("a\n\tb\r\nc".utf8)) == Array("a\n\tb\nc".utf8))
    #expect(shown(Array("a\rb\r\r\n\r".utf8)) == Array("a\\u000db\\u000d\n\\u000d".utf8))
  }

  @Test("A single line stays a single line")
  func line() {
    #expect(shown(Array("a\n\tb\r\n".utf8), keepsLines: false) == Array(#"a\u000a\u0009b\u000d\u000a"#.utf8))
  }

  @Test("C1 controls are escaped as characters and as single bytes")
  func laterControls() {
    for value in UInt8(0x80)...0x9F {
      let escape = Array("\\u00\(String(value, radix: 16))".utf8)
      #expect(shown([0xC2, value]) == escape)
      #expect(shown([value]) == escape)
      #expect(shown([0x41, value, 0x42]) == [0x41] + escape + [0x42])
    }
  }

  @Test(
    "An incomplete character does not hide a control character",
    arguments: [
      [0xE2, 0x80, 0x1B], [0xE2, 0x9B, 0x41], [0xF0, 0x9B], [0xC0, 0x9B], [0xE0, 0x80, 0x9B], [0xED, 0xA0, 0x9B],
      [0xF4, 0x90, 0x80, 0x80], [0xFF, 0x9B], [0xC2, 0xC2, 0x9B], [0xF0, 0x9F, 0x98, 0x0D],
    ] as [[UInt8]])
  func broken(bytes: [UInt8]) {
    let shown = shown(bytes)
    #expect(!shown.contains { $0 < 0x20 || (0x7F...0x9F).contains($0) })
  }

  @Test("Only characters that change the direction of text are escaped")
  func directions() {
    for value in Array(UInt32(0x202A)...0x202E) + Array(0x2066...0x2069) {
      let text = Unicode.Scalar(value).map { String($0) } ?? ""
      #expect(TerminalText.harmless(text) == "\\u\(String(value, radix: 16))")
    }
    let text = "ü € \u{2029}\u{202F}\u{2065}\u{206A}\u{200E} 😀 שלום \u{301}\u{A0}"
    #expect(TerminalText.harmless(text) == text)
  }

  @Test("Random bytes never yield control characters, and valid text without them stays unchanged")
  func fuzz() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var rest = shown(bytes)[...]
      while let byte = rest.popFirst() {
        #expect(byte >= 0x20 && byte != 0x7F || byte == 0x0A || byte == 0x09)
        // As continuation bytes these are not control characters.
        if byte >= 0xC3,
          let text = (1...3).lazy.compactMap({ String(validating: [byte] + rest.prefix($0), as: UTF8.self) }).first
        {
          rest = rest.dropFirst(text.utf8.count - 1)
        } else {
          #expect(!(0x80...0x9F).contains(byte))
        }
      }
    }
  }
}
