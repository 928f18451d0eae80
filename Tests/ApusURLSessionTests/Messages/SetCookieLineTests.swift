import ApusTesting
import TestSupport
import Testing

@testable import ApusURLSession

@Suite("Joined Set-Cookie lines")
struct SetCookieLineTests {
  @Test(
    "Joined Set-Cookie lines are split between cookies, not inside dates and values",
    arguments: [
      ("a=1", ["a=1"]),
      ("a=1, b=2", ["a=1", "b=2"]),
      ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]),
      (
        "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2; HttpOnly",
        ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2; HttpOnly"]
      ),
      (
        "a=1; Expires=Wed, 21-Oct-2026 07:28:00 GMT, b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT",
        ["a=1; Expires=Wed, 21-Oct-2026 07:28:00 GMT", "b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT"]
      ),
      ("a=x,y; Path=/, b=", ["a=x,y; Path=/", "b="]),
      // A combining mark must not hide a delimiter.
      ("a=1; HttpOnly,\u{301}b=2", ["a=1; HttpOnly", "\u{301}b=2"]), ("a=1, b=\u{301}2", ["a=1", "b=\u{301}2"]),
      ("", [""]),
      (",", [","]),
      ("a=1,", ["a=1,"]),
    ])
  func split(joined: String, lines: [String]) {
    #expect(SetCookieLine.split(joined) == lines)
  }

  @Test("Splitting arbitrary Set-Cookie lines removes only the separators", arguments: 0..<8)
  func anything(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let telling: [Unicode.Scalar] = [",", " ", "=", ";", "\"", "a", "\0", "\u{301}", "é"]
    for _ in 0..<1000 {
      let length = Int.random(in: 0...30, using: &generator)
      let scalars = (0..<length).map { _ in telling.randomElement(using: &generator) ?? "a" }
      let joined = String(String.UnicodeScalarView(scalars))
      let lines = SetCookieLine.split(joined)
      func bare(_ text: String) -> [UInt8] { text.utf8.filter { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: " ") } }
      #expect(lines.flatMap(bare) == bare(joined), "\(joined)")
      #expect(lines.dropFirst().allSatisfy { $0.utf8.contains(UInt8(ascii: "=")) }, "\(joined)")
    }
  }

  @Test(
    "Splitting Set-Cookie lines takes linear time", arguments: [",", ", ", ",a", ",a=", " ", "=", ", \u{301}", "a;,"])
  func linear(piece: String) {
    #expect(LinearTime.holds(for: LinearTime.repeating(piece)) { _ = SetCookieLine.split($0) })
  }
}
