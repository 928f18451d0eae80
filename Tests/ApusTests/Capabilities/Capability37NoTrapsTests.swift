import Apus
import ApusTestServer
import ApusTesting
import HTTPTypes
import Testing

@Suite("37: no external input traps")
struct Capability37NoTrapsTests {
  private static let statusLines = [
    "HTTP/1.1 200 OK", "HTTP/1.1 ", "HTTP/9.9 999 X", "HTTP/1.1 404", "HTTP/1.1 99999 X", "HTTP/1.1 -1 X",
    "HTTP/1.0 200 OK", "HTTP/1.1 204 N", "HTTP/1.1 302 F", "HTTP/1.1 401 U", "ICY 200 OK", "\0\0", "200",
    "HTTP/1.1 000 X", "HTTP/1.1 600 X",
  ]
  private static let fields = [
    "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 7",
    "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Content-Encoding: gzip", "Content-Encoding: x",
    "Content-Type: application/json; charset=\u{1}", "X-A:\u{7F}é", ": ", "X", " folded",
    "Retry-After: 99999999999999999999", "Date: ", "WWW-Authenticate: Basic", "WWW-Authenticate: ,,",
    "Location: ::", "Location: /x", "Set-Cookie: a=b; expires=x, c", "X-N: a\0b", "X\0Y: 1",
    "\0: x", "\0\0\0",
  ]
  private static let contents = [
    "5\r\nhello\r\n", "0\r\n\r\n", "0\r\nX-A: b\r\nSet-Cookie: c\r\n\r\n", "ffffffffffffffff\r\n", "zz\r\n",
    "{\"id\":1", "]]]]", "\0\0", "\r\n", "\n",
    "HTTP/1.1 200 OK\r\n", "é",
  ]

  /// Returns a head with unusual lines and content, a truncated head, or no head.
  private static func garbage(_ seed: UInt64) -> String {
    var generator = SeededGenerator(seed: seed)
    func some(_ texts: [String], upTo count: Int) -> [String] {
      (0..<Int.random(in: 0...count, using: &generator)).compactMap { _ in texts.randomElement(using: &generator) }
    }
    let content = some(contents, upTo: 5).joined()
    let status = statusLines.randomElement(using: &generator) ?? ""
    let head = ([status] + some(fields, upTo: 5) + ["", ""]).joined(separator: "\r\n")
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: return content
    case 1:
      return String(head.unicodeScalars.prefix(Int.random(in: 0..<head.unicodeScalars.count, using: &generator)))
    default: return head + content
    }
  }

  @Test(
    "Arbitrary bytes instead of a response yield a value or an error, never a trap or a hang", .timeLimit(.minutes(20)))
  func fuzzedAnswers() async throws {
    try await TestServer.with {
      .raw(Self.garbage(UInt64($0.path.dropFirst()) ?? 0))
    } body: { server in
      let api = server.client {
        $0.timeout = nil
        // No breaker, because an open circuit would refuse the calls.
        $0.breaker = nil
      }
      let codes = await withTaskGroup(of: CallError.Code?.self) { group in
        for seed in 0..<300 {
          group.addTask {
            let error = await failure { try await api.send(Request<User>.get("/\(seed)")) }
            if let error { _ = ("\(error)", error.message, "\(error.trace)") }
            return error?.code
          }
        }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      // No response decodes to a user. The error depends on the position at which the bytes become invalid HTTP.
      #expect(codes.values.reduce(0, +) == 300)
      #expect(
        Set(codes.keys).isSubset(of: [.malformedResponse, .connectionLost, .rejected, .decoding]), "\(codes)")
      #expect(codes.count > 2)
      #expect(api.calls.isEmpty)
    }
  }

  private static let answers = [
    "", "{", "[]", "null", "1e999999", "\"\\ud800\"", #"{"error":{"error":{"error":{}}}}"#,
    #"{"id":1e400,"name":null}"#, "\u{FEFF}{}", #"{"id":1,"name":"#,
    String(repeating: "[", count: 50_000), String(repeating: #"{"a":"#, count: 50_000),
    String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
    String(repeating: #"{"error":"#, count: 500) + "1" + String(repeating: "}", count: 500),
  ]

  @Test(
    "Arbitrary content of any media type yields a decoding error or a rejection", arguments: answers,
    ["application/json", "application/problem+json", "text/html", "", "application/json;;;", "é/\u{80}"])
  func fuzzedContent(content: String, type: String) async throws {
    let stub = StubTransport()
    let api = Client(baseURL: "https://example.test", transport: stub) { $0.timeout = .seconds(300) }
    for (status, code) in [(200, CallError.Code.decoding), (400, .rejected)] {
      stub.onAny(reply: .status(status, fields: [.contentType: type], content: content))
      let error = try #require(await failure { try await api.send(Request<User>.get("/a")) })
      #expect(error.code == code)
      #expect(error.status == status)
      #expect(error.content?.data.isEmpty == content.isEmpty)
    }
  }

  private static let pieces = [
    "http", "https", "://", ":", "/", "//", "?", "#", "@", "[", "]", "::1", "%", "%2", "%2e", "..", ".", "é", "例え",
    "\0", "\r\n", " ", "\\", "a", "example.com", ":80", ":99999999999999999999", "&", "=", "+", "xn--", "\u{202E}",
    "-",
  ]

  private func message(
    _ base: BaseURL, _ request: Request<Void>
  ) async -> Result<RequestMessage, CallError> {
    do throws(CallError) {
      return .success(try await Client(baseURL: base, transport: StubTransport()).message(for: request))
    } catch {
      return .failure(error)
    }
  }

  @Test("Arbitrary text as base URL, path or value yields a one-line URL on the same host, or invalidRequest")
  func fuzzedURLs() async throws {
    var generator = SeededGenerator(seed: 37)
    var (made, refused) = (0, 0)
    for _ in 0..<400 {
      let text = (0..<Int.random(in: 0..<9, using: &generator)).map { _ in
        Self.pieces.randomElement(using: &generator) ?? ""
      }.joined()
      let outcomes = [
        await message(BaseURL(stringLiteral: "http://" + text), .ping),
        await message("https://example.test", .get(RequestPath(stringLiteral: text))),
        await message("https://example.test", .get("/\(text)/x", query: [text: text])),
      ]
      for (index, outcome) in outcomes.enumerated() {
        switch outcome {
        case .success(let message):
          made += 1
          #expect(message.target.hasPrefix("/") && !message.target.hasPrefix("//"))
          #expect(message.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
          if index > 0 { #expect(message.head.authority == "example.test") }
        case .failure(let error):
          refused += 1
          #expect(error.code == .invalidRequest)
        }
      }
    }
    #expect(made > 50 && refused > 50)
  }
}
