import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Text and media types") struct ContentTextTests {
  @Test(
    "Text is decoded as UTF-8, or as Latin-1 if the charset declares it",
    arguments: [
      ([0xC3, 0xA9], nil, "é"), ([0xE9], "text/plain; charset=iso-8859-1", "é"),
      ([0xE9], "text/plain;charset=Latin1", "é"),
      ([0xE9], #"text/plain; x=1; CHARSET="ISO-8859-1""#, "é"),
      ([0xE9, 0x80], "text/plain ; charset = iso-8859-1 ", "é\u{80}"),
      ([0xC3, 0xA9], "text/plain; charset=utf-8", "é"), ([0xC3, 0xA9], #"text/plain; a="charset=latin1""#, "é"),
      ([0xEF, 0xBB, 0xBF, 0x61], "text/plain", "a"), ([], nil, ""), ([0], nil, "\0"),
    ] as [([UInt8], String?, String)])
  func text(bytes: [UInt8], type: String?, text: String) async throws {
    let content = Content(data: Data(bytes), mediaType: type.map { MediaType($0) })
    #expect(try Array(content.text().unicodeScalars) == Array(text.unicodeScalars))
    let answer = StubReply.bytes(Data(bytes), fields: type.map { [.contentType: $0] } ?? [:])
    #expect(try await client(answering: answer).send(Request<String>.get("/x")) == text)
  }

  @Test(
    "Decoding text from bytes that are not valid text fails",
    arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
  func noText(bytes: [UInt8]) async {
    let error = await failure {
      try await client(answering: .bytes(Data(bytes))).send(Request<String>.get("/x"))
    }
    #expect(error?.code == .decoding)
    #expect(error?.content?.data == Data(bytes))
  }

  @Test(
    "The essence of a media type is lower case and has no parameters",
    arguments: [
      ("application/json", "application/json"), ("Application/JSON; charset=utf-8", "application/json"),
      (" text/html\t;x", "text/html"), ("", ""), (";", ""), ("text/html;;", "text/html"),
    ])
  func essence(text: String, essence: String) {
    #expect(MediaType(text).essence == essence)
    #expect(MediaType(text).description == text)
  }

  @Test(
    "JSON media types are recognized",
    arguments: [
      ("application/json", true), ("application/problem+json; x=y", true), ("TEXT/json", true),
      ("application/vnd.api+json", true), ("application/jsonx", false), ("application/json-seq", false),
      ("text/plain", false), ("", false),
    ])
  func isJSON(text: String, expected: Bool) {
    #expect(MediaType(text).isJSON == expected)
  }

  @Test(
    "Parameters of a media type are found by name, quoted or not",
    arguments: [
      ("a/b; q=1", "q", "1"), ("a/b;Q=1", "q", "1"), (#"a/b; n="x;y=z"; q="1 \"2\" \\3""#, "q", #"1 "2" \3"#),
      (#"a/b; n="x;q=2""#, "q", nil), ("a/b; flag; q=3", "q", "3"), ("a/b", "q", nil), ("a/b;q", "q", nil),
      ("a/b; q=", "q", ""), (#"a/b; q="open"#, "q", "open"), (#"a/b; q="open\"#, "q", "open"),
      ("a/b; q = 5 ; r=6", "q", "5"),
      (#"a/b; q="x"junk; r=6"#, "r", "6"), ("a/b;;;r=1", "r", "1"), ("a/b;=5;r=1", "r", "1"),
    ] as [(String, String, String?)])
  func parameter(text: String, name: String, value: String?) {
    #expect(MediaType(text).parameter(name) == value)
  }

  @Test("Content created in a test has the specified properties")
  func content() throws {
    var coding = CodingOptions()
    coding.json = .snakeCase
    let content = Content(data: Data(#"{"a_b":1}"#.utf8), mediaType: .json, status: 201, coding: coding)
    #expect(try content.decode([String: Int].self) == ["a_b": 1])
    #expect(content.status == 201)
    #expect(Content(of: ResponseMessage(head: HTTPResponse(status: .ok)), coding: coding).mediaType == nil)
  }
}
