import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Logging
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Text of content in logs")
struct LoggedTextTests {
  /// Returns the logged content of a request, and its length.
  private func logged(
    _ text: String, _ type: String, limit: Int = 4096, maskedNames: Set<String>? = nil
  ) async throws -> (content: String?, length: String?) {
    let log = LogRecorder()
    let logging = ContentLoggingMiddleware(
      log.logger(), limit: limit, maskedNames: maskedNames ?? ContentLoggingMiddleware.defaultMaskedNames)
    var client = TestClient()
    client.customize = { $0.insert(logging, .before(.transport)) }
    let content = RequestContent(MediaType(type)) { _ in .bytes(Data(text.utf8)) }
    try await client.over(StubTransport.answering()).send(Request<Void>.post("/a", content: content))
    let metadata = try #require(log.lines.all.first).metadata
    return (metadata["content"], metadata["length"])
  }

  @Test(
    "Of multipart content, and content that does not match its type, only the size is logged",
    arguments: [
      ("application/json", "password=s3cr3t"), ("application/json", #"{"password":"s3cr3t"#),
      ("application/json", "s3cr3t"), ("application/json", "{'password':'s3cr3t'}"),
      ("application/json", #"{"a":1} s3cr3t"#), ("application/problem+json", "token: s3cr3t"),
      ("application/x-www-form-urlencoded", #"{"password":"s3cr3t"}"#),
      ("application/x-www-form-urlencoded", "password: s3cr3t"),
      ("application/x-www-form-urlencoded", "a=1\npassword\ts3cr3t"),
      ("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=a\r\n\r\ns3cr3t\r\n--x--\r\n"),
      ("application/octet-stream", "s3cr3t"), ("text/plain; charset=utf-16", "s3cr3t"),
    ])
  func sizeOnly(type: String, text: String) async throws {
    let logged = try await logged(text, type)
    #expect(logged.content == nil && logged.length == "\(text.utf8.count)")
  }

  @Test(
    "In plain text, lines with a revealing word are masked",
    arguments: [
      ("hello\nPassword: s3cr3t\nbye", "hello ██ bye"), ("<a>1</a>\r\n<api-key>s3cr3t</api-key>", "<a>1</a>  ██"),
      ("access_token s3cr3t", "██"), ("p%61ssword=s3cr3t", "██"), (#"{"p\u0061ssword":"s3cr3t"}"#, "██"),
      ("OTP 123456", "██"), ("the author of monkey", "the author of monkey"), ("authKey=s3cr3t", "██"),
    ])
  func lines(text: String, expected: String) async throws {
    #expect(try await logged(text, "text/plain").content == expected)
  }

  @Test("Plain text is truncated at the limit, and a revealing word beyond the limit still masks its line")
  func bounded() async throws {
    #expect(try await logged("abcdefgh", "text/plain", limit: 4).content == "abcd…")
    #expect(try await logged("abcdefgh token", "text/plain", limit: 4).content == "██")
    let long = try await logged(String(repeating: "line\n", count: 10_000), "text/html", limit: 100).content
    #expect(long?.utf8.count == 100 + "…".utf8.count)
  }

  @Test(
    "The words that mark secret fields of a request also mark members and parameters",
    arguments: [
      "auth", "session", "jwt", "otp", "csrf_token", "X-XSRF-TOKEN", "bearer", "DPoP", "key", "apiAuth", "pwd",
    ])
  func oneList(name: String) async throws {
    let json = try await logged(#"{"\#(name)":"s3cr3t","b":1}"#, "application/json").content
    #expect(json == #"{"\#(name)":"██","b":1}"#)
    #expect(
      try await logged("\(name)=s3cr3t&b=1", "application/x-www-form-urlencoded").content == "\(name)=██&b=1")
  }

  @Test("A name that only contains a short word is not masked, and an app's list replaces all words")
  func shown() async throws {
    for name in ["author", "monkey", "pinned", "keyboard", "authority"] {
      #expect(try await logged(#"{"\#(name)":1}"#, "application/json").content == #"{"\#(name)":1}"#)
    }
    let own = try await logged(#"{"ssn":1,"key":2,"token":3}"#, "application/json", maskedNames: ["ssn"]).content
    #expect(own == #"{"ssn":"██","key":2,"token":3}"#)
  }

  @Test("A form parameter without a value is masked if its name contains a revealing word")
  func withoutValue() async throws {
    #expect(try await logged("a&token-s3cr3t&b", "application/x-www-form-urlencoded").content == "a&██&b")
  }
}
