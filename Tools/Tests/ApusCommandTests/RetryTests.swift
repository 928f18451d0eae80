import ApusTestServer
import Foundation
import Testing

/// Requests on a reused connection that the server has closed.
@Suite("Resending and retries", .timeLimit(.minutes(3)))
struct RetryTests {
  /// Two consecutive requests on one connection, in any order.
  private func batch(
    to server: TestServer, _ arguments: [String] = [], more: String = ""
  ) async throws -> ToolRun {
    let input = (1...2).map { #"{"n":\#($0),"url":"\#(server.origin)/\#($0)"\#(more)}"# + "\n" }.joined()
    return try await ToolRun.of(["batch", "--connections", "1"] + arguments, .init(input: Data(input.utf8)))
  }

  @Test("In a batch, a request on a closed connection is resent on a new connection, and the trace records this")
  func again() async throws {
    try await TestServer.with { request in
      request.number == 1 ? .closed : .text("hi")
    } body: { server in
      let run = try await batch(to: server, ["--trace"])
      #expect(run.status == 0)
      #expect(try run.results().values.map(\.status) == [200, 200])
      #expect(server.exchanges.map(\.connection) == [0, 0, 1])
      #expect(Set(server.exchanges.dropFirst().map(\.target)).count == 1)
      #expect(run.error.contains("resent on a new connection: the reused one was closed"))
    }
  }

  @Test(
    "In a batch, a request is not resent with --no-retry or if not idempotent, and its result contains maybeSent",
    arguments: [(["--no-retry"], ""), ([], #","body":"x""#)] as [([String], String)])
  func notAgain(arguments: [String], more: String) async throws {
    try await TestServer.with { request in
      request.number == 1 ? .closed : .text("hi")
    } body: { server in
      let run = try await batch(to: server, arguments, more: more)
      // Every line has a result, so the batch succeeds.
      #expect(run.status == 0)
      let answers = try run.results().values
      #expect(answers.compactMap(\.status) == [200])
      #expect(answers.compactMap(\.code) == ["connectionLost"])
      #expect(answers.compactMap(\.requestState) == ["maybeSent"])
      #expect(server.exchanges.map(\.connection) == [0, 0])
    }
  }

  @Test(
    "A redirected request is resent after a lost connection; with --no-retry apus send exits with status 56",
    arguments: [([], 0, "there"), (["--no-retry"], 56, "")] as [([String], Int32, String)])
  func redirected(arguments: [String], status: Int32, text: String) async throws {
    try await TestServer.with { request in
      switch request.number {
      case 0: .status(302, fields: ["Location": "/there"])
      case 1: .closed
      default: .text("there")
      }
    } body: { server in
      let run = try await ToolRun.of(["send", server.origin + "/here"] + arguments)
      #expect(run.status == status)
      #expect(run.text == text)
      #expect(run.error.contains("connectionLost, maybeSent") == (status == 56), "\(run.error)")
      let again = status == 0 ? ["/there on 1"] : []
      #expect(server.exchanges.map { "\($0.target) on \($0.connection)" } == ["/here on 0", "/there on 0"] + again)
    }
  }

  @Test("Temporary failures are retried only with --retry", arguments: [0, 2])
  func furtherAttempts(number: Int) async throws {
    try await TestServer.with { request in
      request.number < 2 ? .status(503, fields: ["Retry-After": "0"]) : .text("hi")
    } body: { server in
      let run = try await ToolRun.of(
        ["send", server.origin, "--trace"] + (number > 0 ? ["--retry", "\(number)"] : []))
      #expect(run.status == (number > 0 ? 0 : 22))
      #expect(run.text == (number > 0 ? "hi" : ""))
      #expect(server.exchanges.count == number + 1)
    }
  }

  @Test("With URLSession, which always resends requests, --no-retry opens a connection for every request")
  func urlSession() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let run = try await batch(to: server, ["--transport", "urlsession", "--no-retry"])
      #expect(try run.results().values.map(\.status) == [200, 200])
      #expect(Set(server.exchanges.map(\.connection)).count == 2)
    }
  }
}
