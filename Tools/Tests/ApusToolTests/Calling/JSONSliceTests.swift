import Apus
import Foundation
import Testing

@testable import ApusTool

@Suite("Slices of JSON")
struct JSONSliceTests {
  private func slice(_ text: String) throws -> JSONSlice { try JSONSlice(parsing: Data(text.utf8)) }

  private func line(_ slice: JSONSlice?) -> String? { slice.map { String(decoding: $0.line, as: UTF8.self) } }

  @Test("Elements keep their bytes except white space")
  func elements() throws {
    let page = try slice(#" [ 1.10 , -0e5,"a , ] \" \\",{ "b" : [ ] , "a":null },[[],[1 ]], true ] "#)
    #expect(
      page.elements?.map { line($0) } == [
        "1.10", "-0e5", #""a , ] \" \\""#, #"{"b":[],"a":null}"#, "[[],[1]]", "true",
      ])
    #expect(try slice("[ ]").elements?.count == 0)
    #expect(try slice("{}").elements == nil && slice("1").elements == nil)
    #expect(try slice("\u{FEFF}[1]").elements?.map { line($0) } == ["1"])
  }

  @Test(
    "A path of names and indices selects a value",
    arguments: [
      ([], #"{"a":{"b":[1,{"c":"x"}],"b":[2,{"c":"y"}]},"\u0061b":3}"#), (["a", "b", "0"], "2"),
      (["a", "b", "1", "c"], #""y""#),
      (["ab"], "3"), (["a", "b", "2"], nil), (["a", "b", "-1"], nil), (["a", "c"], nil), (["ab", "c"], nil),
      (["a", "b", "1", "c", "0"], nil),
    ] as [([String], String?)])
  func paths(path: [String], value: String?) throws {
    let page = try slice(#"{"a":{"b":[1,{"c":"x"}],"b":[2,{"c":"y"}]},"\u0061b":3}"#)
    #expect(line(page.at(path)) == value)
  }

  @Test("A text that is not JSON is rejected", arguments: ["", "[1", "[1]]", "nul", "[01]", "{\"a\"}", "\"\u{1}\""])
  func malformed(text: String) {
    #expect(throws: JSONError.self) { try slice(text) }
  }

  @Test("Lines have the same JSON value as their slices, whatever the JSON is")
  func fuzz() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let value = Self.value(&random, depth: 4)
      let text = String(decoding: value.utf8(), as: UTF8.self)
      #expect(line(try slice(text)) == text)
      for (element, expected) in zip(try slice(text).elements ?? [], value.array ?? []) {
        #expect(element.value == expected)
      }
      for (name, expected) in value.object ?? [:] { #expect(try slice(text).at([name])?.value == expected) }
    }
  }

  private static func value(_ random: inout SystemRandomNumberGenerator, depth: Int) -> JSONValue {
    let texts = ["", "a", "\"", "\\", "]", "},{", ":", "\u{1F600}", "a\\\"b", " \n"]
    switch Int.random(in: depth > 0 ? 0...6 : 2...6, using: &random) {
    case 0: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth - 1) })
    case 1:
      let members = (0..<Int.random(in: 0...4, using: &random)).map { number in
        (texts[number + Int.random(in: 0...5, using: &random)], value(&random, depth: depth - 1))
      }
      return .object(Dictionary(members) { $1 })
    case 2: return .number(JSONNumber(Int.random(in: -1000...1000, using: &random)))
    case 3: return .bool(true)
    case 4: return .null
    default: return .string(texts.randomElement(using: &random) ?? "")
    }
  }
}
