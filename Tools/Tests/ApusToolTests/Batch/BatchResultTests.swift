import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Results of a batch")
struct BatchResultTests {
  private func line(_ answer: BatchResult) -> String { String(decoding: answer.line, as: UTF8.self) }

  private func answer(_ content: [UInt8]) -> BatchResult {
    BatchResult(1, .responded(HTTPResponse(status: .ok), Data(content), interim: []))
  }

  @Test("A result has all fields in order and the interim responses")
  func answered() throws {
    var head = HTTPResponse(status: 404)
    head.headerFields.append(HTTPField(name: .setCookie, value: "a=1"))
    head.headerFields.append(HTTPField(name: .contentType, value: "text/plain"))
    head.headerFields.append(HTTPField(name: .setCookie, value: "b=\"2\""))
    var interim = HTTPResponse(status: 103)
    let link = try #require(HTTPField.Name("Link"))
    interim.headerFields.append(HTTPField(name: link, value: "</a>"))
    interim.headerFields.append(HTTPField(name: link, value: "</b>"))
    let answer = BatchResult(7, .responded(head, Data("hi\n".utf8), interim: [interim, HTTPResponse(status: 102)]))
    #expect(
      line(answer) == #"{"n":7,"status":404,"headers":[["set-cookie","a=1"],["content-type","text/plain"],"#
        + #"["set-cookie","b=\"2\""]],"body":"hi\n","interim":[[103,{"link":"</a>, </b>"}],[102,{}]]}"# + "\n")
  }

  @Test("Field values are UTF-8 if valid, otherwise Latin-1")
  func fields() throws {
    var head = HTTPResponse(status: .ok)
    let name = try #require(HTTPField.Name("X"))
    head.headerFields.append(HTTPField(name: name, value: Array("ü".utf8)))
    head.headerFields.append(HTTPField(name: name, value: [0x66, 0xFC]))
    let text = line(BatchResult(1, .responded(head, Data(), interim: [head])))
    #expect(text.contains(#""headers":[["x","ü"],["x","fü"]]"#))
    #expect(text.contains(#""interim":[[200,{"x":"ü, fü"}]]"#))
    #expect(Sending.text(of: head, over: nil) == "200 OK\nX: ü\nX: fü\n\n")
    #expect(Sending.text(of: head, over: .http1) == "HTTP/1.1 200 OK\nX: ü\nX: fü\n\n")
    #expect(Sending.text(of: head, over: .http2) == "HTTP/2 200\nX: ü\nX: fü\n\n")
  }

  @Test("Content is UTF-8 if valid, otherwise Latin-1")
  func text() throws {
    #expect(line(answer(Array("ü€😀".utf8))).contains(#""body":"ü€😀""#))
    #expect(line(answer([0x66, 0xFC, 0x72, 0xFF, 0x80])).contains("\"body\":\"f\u{FC}r\u{FF}\u{80}\""))
    #expect(line(answer([0x22, 0x5C, 0, 0x1F, 0x7F, 0x80])).contains(#""body":"\"\\\u0000\u001f\u007f"# + "\u{80}\""))
  }

  @Test("Any content results in one line of valid JSON", arguments: 0..<20)
  func everything(seed: UInt8) throws {
    let content = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(seed) &* 31) }
    let bytes = answer(content).line
    #expect(bytes.filter { $0 == UInt8(ascii: "\n") }.count == 1 && bytes.last == UInt8(ascii: "\n"))
    struct Line: Decodable { var body: String }
    let body = try JSONDecoder().decode(Line.self, from: bytes).body
    #expect(body.unicodeScalars.map { UInt8($0.value) } == content)
  }

  @Test("With a cache, a result and a failure have its effect")
  func cached() {
    var result = answer([])
    result.cache = CacheOutcome("Apus; fwd=stale; fwd-status=304; stored", isStale: false)
    #expect(line(result).hasSuffix(#""interim":[],"cache":"revalidated","stored":true}"# + "\n"))
    var failure = BatchResult(2, .failed(error: "no", code: "tls", state: .notSent))
    failure.cache = CacheOutcome("Apus; fwd=uri-miss", isStale: false)
    #expect(line(failure).hasSuffix(#""requestState":"notSent","cache":"miss","stored":false}"# + "\n"))
  }

  @Test("A failure has a message, a code and the request state")
  func failed() {
    #expect(
      line(BatchResult(2, .failed(error: "no \"way\"", code: "tls", state: .notSent)))
        == #"{"n":2,"error":"no \"way\"","code":"tls","requestState":"notSent"}"# + "\n")
    #expect(
      line(BatchResult(BatchLine.Unusable(number: nil, reason: "why")))
        == #"{"n":null,"error":"why","code":"badLine","requestState":"notSent"}"# + "\n")
  }
}
