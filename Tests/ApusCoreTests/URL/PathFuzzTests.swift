import ApusTesting
import Testing

@testable import ApusCore

@Suite("Fuzz: paths") struct PathFuzzTests {
  /// Random text, mostly of characters that are special in URLs.
  static func text(_ generator: inout SeededGenerator, upTo length: Int = 12) -> String {
    let special: [Unicode.Scalar] = [
      "/", "\\", ".", "%", "2", "e", "E", "5", "?", "#", "&", "=", "+", " ", ":", "@", "\r", "\n", "\0", "\u{7F}",
      "\u{301}", "\u{200D}", "é", "日", "😀", "a", "[", "]", "\u{FEFF}", "\u{3002}",
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...length, using: &generator) {
      let any = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator))
      let isSpecial = UInt8.random(in: 0...3, using: &generator) > 0
      text.append(isSpecial ? special.randomElement(using: &generator) ?? "a" : any ?? "b")
    }
    return String(text)
  }

  @Test("A random path value becomes one segment that decodes to the same value, or a typed fault", arguments: 0..<8)
  func values(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 1000) {
      let value = Self.text(&generator)
      let path: RequestPath = "/users/\(value)/friends"
      guard path.fault == nil else {
        #expect(path.fault?.isEmpty == false)
        continue
      }
      let segments = path.encoded.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      try #require(segments.count == 4)
      #expect(QueryDecoding.decoded(Array(segments[2])) == value)
      #expect(path.template == "/users/{}/friends")
    }
  }

  @Test("Random path text becomes a path of visible ASCII without dot segments, or a typed fault", arguments: 100..<108)
  func texts(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 1000) {
      let text = Self.text(&generator)
      let path = RequestPath(stringLiteral: text)
      guard path.fault == nil else {
        #expect(path.fault?.isEmpty == false)
        continue
      }
      for part in [path.encoded, path.query ?? ""] {
        #expect(part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        #expect(PercentEncoding.hasValidEscapes(part))
      }
      #expect(!path.encoded.hasPrefix("//"))
      for segment in path.encoded.split(separator: "/") {
        #expect(![".", ".."].contains(QueryDecoding.decoded(Array(segment.utf8))), "\(text)")
      }
    }
  }

  @Test(
    "A random base URL is refused with a typed error, or its origin is parsed to an equal origin", arguments: 200..<208)
  func bases(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 1000) {
      let text = "https://" + Self.text(&generator) + (Bool.random(using: &generator) ? ".example" : "")
      do throws(BaseURL.ParseError) {
        let base = try BaseURL(text)
        guard let origin = base.origin else { continue }
        #expect(Origin(scheme: origin.scheme, authority: origin.authority) == origin, "\(text)")
        #expect(origin.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"@/?#\\%".utf8.contains($0) }, "\(text)")
      } catch {
        #expect(!error.reason.isEmpty)
      }
    }
  }
}
