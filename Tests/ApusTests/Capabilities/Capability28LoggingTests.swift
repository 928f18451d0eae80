import Apus
import ApusTestServer
import Logging
import Testing

@Suite("28: logging")
struct Capability28LoggingTests {
  private let log = LogRecorder()

  @Test("A call's log lines have id, method, URL, status and duration, and no secret")
  func lines() async throws {
    try await TestServer.with { _ in
      .json(#"{"token":"s3cr3t"}"#, fields: ["Set-Cookie": "s3cr3t"])
    } body: { server in
      let api = server.client(path: "/v1?key=s3cr3t") {
        $0.authentication = .apiKey(MemoryCredentialsStore(token: "s3cr3t"), queryParameter: "api_key")
        $0.setField("X-Key", "s3cr3t")
        $0.logging = RequestLogging(log.logger())
      }
      let login = Request<Void>.post("/login/\("s3cr3t")", query: ["q": "s3cr3t"], content: .json(["p": "s3cr3t"]))
      try await api.send(login.field("X-Own", "s3cr3t").id("login", onDuplicate: .allow))
      let lines = log.lines.all.map(\.text)
      #expect(lines.count == 2)
      #expect(lines.first == "info request call=login method=POST url=\(server.origin)/v1/login/{}")
      let last = try #require(lines.last)
      #expect(last.hasPrefix("info response call=login duration="))
      #expect(last.hasSuffix("seconds method=POST status=200 url=\(server.origin)/v1/login/{}"))
      #expect(!lines.contains { $0.contains("s3cr3t") })
    }
  }

  /// Runs in a separate process, whose output is not mixed with the output of other tests.
  @Test("Nothing is logged or printed unless the client has a logger")
  func off() async throws {
    #expect(Configuration(baseURL: "https://example.test").logging == nil)
    let quiet = try #require(await output(of: .quiet))
    #expect(quiet == [])
    // With a logger, the call is logged.
    let logged = try #require(await output(of: .logged))
    #expect(logged.count == 4)
    #expect(logged.allSatisfy { $0.contains("/login/{}") })
  }

  private enum Output {
    case quiet, logged
  }

  /// Returns the output of a process in which one call succeeds and another is rejected.
  private func output(of kind: Output) async -> [String]? {
    let result: ExitTest.Result?
    switch kind {
    case .quiet:
      result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
      ) {
        try await Self.call { _ in }
      }
    case .logged:
      result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
      ) {
        try await Self.call {
          $0.logging = RequestLogging(Logger(label: "test") { StreamLogHandler.standardError(label: $0) })
        }
      }
    }
    guard let result else { return nil }
    return (result.standardOutputContent + result.standardErrorContent).split(separator: UInt8(ascii: "\n"))
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private static func call(_ configure: (inout Configuration) -> Void) async throws {
    try await TestServer.with {
      .status($0.number == 0 ? 204 : 404)
    } body: { server in
      let api = server.client(configure: configure)
      for _ in 0..<2 {
        _ = await failure { try await api.send(.post("/login/\(7)", content: .json(["p": "s3cr3t"]))) }
      }
    }
  }
}
