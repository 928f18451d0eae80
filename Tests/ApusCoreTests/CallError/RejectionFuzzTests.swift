import Foundation
import TestSupport
import Testing

@testable import ApusCore

@Suite("Linear time of parsing rejections", .serialized) struct RejectionFuzzTests {
  /// Contents meant to be slow to parse: a prefix, a repeated piece, a suffix.
  private static let hostile: [[String]] = [
    ["", "[", ""], ["", #"{"error":"#, ""], ["", #"{"errors":["#, ""],
    [#"{"errors":["#, #"{"field":"a","message":"b"},"#, "{}]}"],
    [#"{"message":""#, "a ", #""}"#], [#"{"message":""#, #"\u202e"#, #""}"#],
    [#"{"message":"a"#, "\u{301}\u{323}", #""}"#],
    [#"{"code":""#, "\u{301}\u{323}", #""}"#], [#"{"code":"#, "7", "}"], [#"{"a"#, "\u{301}\u{323}", #"":1}"#],
    ["{", #""a":["b"],"#, #""c":["d"]}"#], [#"{"errors":{"#, #""a":["b"],"#, #""c":["d"]}}"#],
    [#"{"detail":["#, #"{"loc":["body"],"msg":"x"},"#, "{}]}"],
    [#"{"detail":[{"loc":["#, #""a","#, #""b"],"msg":"c"}]}"#],
    [#"{"detail":[{"loc":["a"#, "\u{301}\u{323}", #""],"msg":"c"}]}"#],
    [#"{"errors":[{"field":""#, "/a.b", #""}]}"#], [#"{"data":{"a":{"message":""#, "x.", #""}}}"#],
    [#"{"errors":[{"details":["#, #"{"details":[{}]},"#, "{}]}]}"], ["{", #""a":1,"#, ""], ["[", "1,", "1]"],
  ]

  private static func read(_ content: Content) {
    _ = Rejection(content, decoder: nil)
    _ = Result { try EnvelopeFormat().check(content) }
  }

  @Test("Fuzz: parsing a rejection with ten times the bytes takes at most twelve times as long", arguments: hostile)
  func linear(parts: [String]) {
    for type in [MediaType.json, .problem] {
      let holds = LinearTime.holds { size in
        let body = parts[0] + String(repeating: parts[1], count: size / parts[1].utf8.count) + parts[2]
        return Content(data: Data(body.utf8), mediaType: type, status: 400)
      } _: {
        Self.read($0)
      }
      #expect(holds)
    }
  }

  @Test("Content nested 500 levels deep is parsed fast")
  func nested() {
    let piece = #"[{"message":null,"code":true,"#
    let body = String(repeating: piece + #""error":"#, count: 250) + "1" + String(repeating: "}]", count: 250)
    let content = Content(data: Data(body.utf8), mediaType: .json, status: 400)
    #expect(LinearTime.time { Self.read(content) } < 1)
  }
}
