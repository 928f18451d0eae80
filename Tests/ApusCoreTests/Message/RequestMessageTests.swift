import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Request messages as text") struct RequestMessageTests {
  private let secret = "s3cr3t-sentinel"

  private func message(method: HTTPRequest.Method = .post, content: MessageContent = .empty) throws -> RequestMessage {
    var head = HTTPRequest(
      method: method, scheme: "https", authority: "api.example.com", path: "/films?key=\(secret)&page=2&\(secret)")
    head.headerFields[.accept] = "application/json"
    head.headerFields[.authorization] = "Bearer \(secret)"
    head.headerFields[.cookie] = "id=\(secret)"
    head.headerFields[try #require(HTTPField.Name("X-Api-Key"))] = secret
    head.headerFields[.ifMatch] = "it's"
    return RequestMessage(head: head, content: content)
  }

  @Test("A curl command masks credentials, query values and content")
  func redacted() throws {
    let stream = ContentStream(isReplayable: false) { { nil } }
    let contents: [MessageContent] = [.bytes(Data(secret.utf8)), .empty, .stream(stream)]
    for content in contents {
      let text = try message(content: content).curl()
      #expect(!text.contains(secret))
      #expect(text.contains("'https://api.example.com/films?key=██&page=██&██'"))
      #expect(text.contains("--header 'Accept: application/json'"))
      #expect(text.contains("--header 'Authorization: ██'"))
    }
  }

  @Test("A curl command without redaction contains all values, quoted for a shell")
  func open() throws {
    let text = try message(content: .bytes(Data("it's @\(secret)\n".utf8))).curl(redaction: nil)
    #expect(text.hasPrefix("curl --request POST 'https://api.example.com/films?key=\(secret)&page=2&\(secret)'"))
    #expect(text.contains("--header 'Authorization: Bearer \(secret)'"))
    #expect(text.contains(#"--header 'If-Match: it'\''s'"#))
    #expect(text.hasSuffix("--data-raw 'it'\\''s @\(secret)\n'"))
  }

  @Test("A curl command contains the fields and parameters that the redaction permits")
  func shown() throws {
    let redaction = Redaction(shownFields: ["X-API-Key"], shownParameters: ["page"])
    let text = try message().curl(redaction: redaction)
    #expect(text.contains("X-Api-Key: \(secret)") && text.contains("?key=██&page=2&██'"))
    #expect(text.contains("Accept: ██"))
  }

  @Test("HEAD requests, files, streams and custom methods have specific curl options")
  func words() throws {
    #expect(try message(method: .head).curl().hasPrefix("curl --head 'https"))
    let odd = try #require(HTTPRequest.Method("a'b"))
    #expect(try message(method: odd).curl().hasPrefix(#"curl --request 'a'\''b' 'https"#))
    let stream = ContentStream(isReplayable: true) { { nil } }
    #expect(try message(content: .stream(stream)).curl().hasSuffix("--data-binary @-"))
    let file = try ContentFile(path: #filePath)
    #expect(try message(content: .file(file)).curl(redaction: nil).hasSuffix("--data-binary '@\(#filePath)'"))
    #expect(try message(content: .file(file)).curl().hasSuffix("--data-binary '@██'"))
  }

  @Test("A sensitive field is masked even if the redaction permits its name")
  func sensitive() {
    var field = HTTPField(name: .accept, value: secret)
    #expect(Redaction().value(of: field) == secret)
    field.indexingStrategy = .disallow
    #expect(Redaction().value(of: field) == Redaction.mask)
  }

  @Test("Descriptions, dumps and mirrors of a message contain no values")
  func descriptions() throws {
    let message = try message(content: .bytes(Data(secret.utf8)))
    var dumped = ""
    dump(message, to: &dumped)
    for text in ["\(message)", String(reflecting: message), dumped, "\([message])"] {
      #expect(!text.contains(secret))
      #expect(text.contains("POST https://api.example.com with 5 fields"))
    }
  }

  @Test("Target, URL and origin are derived from the head")
  func parts() {
    var message = RequestMessage(head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil))
    #expect(message.target == "/" && message.origin == nil && message.url == ":///")
    #expect("\(message)" == "GET ? with 0 fields")
    #expect(message.curl() == "curl --request GET ':///' --globoff")
    message.target = "/x"
    message.head.scheme = "HTTPS"
    message.head.authority = "A.example:8443"
    #expect(message.head.path == "/x")
    #expect(message.origin == Origin(scheme: "https", host: "a.example", port: 8443))
    #expect(message.url == "HTTPS://A.example:8443/x")
  }

  @Test("A target without a query remains unchanged in descriptions")
  func plainTarget() {
    #expect(Redaction().target("/a/b") == "/a/b")
    #expect(Redaction().target("/a?") == "/a?")
    #expect(Redaction().target("/a?x=") == "/a?x=██")
    #expect(Redaction(shownParameters: ["a b"]).target("/?a%20b=1") == "/?a%20b=1")
  }
}
