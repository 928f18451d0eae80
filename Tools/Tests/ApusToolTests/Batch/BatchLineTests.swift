import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Lines of a batch")
struct BatchLineTests {
  @Test("Only number and URL are required")
  func least() throws {
    let line = try BatchLine(Data(#"{"n":3,"url":"http://h/"}"#.utf8))
    #expect(line.n == 3)
    let request = try line.request(to: TargetURL(line.url)) { _ in }
    #expect(request.method == .get)
    #expect(request.options.contentLimit == 64 << 20)
    #expect(request.options.timeout == nil)
  }

  @Test("A line can set every property of its request")
  func full() throws {
    let text = #"""
      {"n":1,"method":"PATCH","url":"http://h/a?b","headers":[["A","1"],["a"," 2, 3\t"]],"body":"x","redirect":"manual",
       "timeout_s":0.5,"max_body":7,"other":true}
      """#
    let line = try BatchLine(Data(text.utf8))
    #expect(line.redirect == .manual)
    let request = try line.request(to: TargetURL(line.url)) { _ in }
    #expect(request.method == .patch)
    #expect(request.options.timeout == .milliseconds(500))
    #expect(request.options.contentLimit == 7)
    let written = try #require(request.options.values[WrittenMessageKey.self])
    #expect(written.target == "/a?b")
    #expect(written.fields.map(\.name) == ["A", "a"] && written.fields.map(\.value) == ["1", "2, 3"])
  }

  @Test("Content makes the default method POST; null is treated as missing")
  func method() throws {
    let url = try TargetURL("http://h/")
    #expect(try BatchLine(Data(#"{"n":1,"url":"","body":"x"}"#.utf8)).request(to: url) { _ in }.method == .post)
    #expect(try BatchLine(Data(#"{"n":1,"url":"","body":null}"#.utf8)).request(to: url) { _ in }.method == .get)
  }

  @Test(
    "An invalid line results in a reason, and its number if known",
    arguments: [
      ("{", nil, "it is not a valid JSON object"), ("[]", nil, "it is not a valid JSON object"),
      (#"{"url":"x"}"#, nil, "n is missing"),
      (#"{"n":4}"#, 4, "url is missing"), (#"{"n":4,"url":5}"#, 4, "url has an invalid value"),
      (#"{"n":4,"url":"x","redirect":"maybe"}"#, 4, "redirect has an invalid value"),
      (#"{"n":4,"url":"x","headers":[["a"]]}"#, 4, "headers must be pairs of name and value"),
      (#"{"n":4,"url":"x","timeout_s":-1}"#, 4, "timeout_s must be from 0 to 1000000000"),
      (#"{"n":4,"url":"x","timeout_s":1e300}"#, 4, "timeout_s must be from 0 to 1000000000"),
      (#"{"n":4,"url":"x","max_body":-1}"#, 4, "max_body must not be negative"),
      (#"{"n":1.5,"url":"x"}"#, nil, "it is not a valid JSON object"),
    ] as [(String, Int?, String)])
  func unusable(text: String, number: Int?, reason: String) {
    do throws(BatchLine.Unusable) {
      _ = try BatchLine(Data(text.utf8))
      Issue.record("the line was accepted")
    } catch {
      #expect(error == BatchLine.Unusable(number: number, reason: reason))
    }
  }
}
