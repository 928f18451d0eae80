import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Retry: content and keys")
struct RetryContentTests {
  private let bench = RetryBench()
  private var stub: StubTransport { bench.stub }

  private func pieces(isReplayable: Bool) -> RequestContent {
    .stream(
      ContentStream(isReplayable: isReplayable) {
        let rest = Log<Int>()
        return {
          rest.add(0)
          return rest.all.count < 3 ? Data("ab".utf8) : nil
        }
      })
  }

  // MARK: Content

  @Test("A retry resends replayable content completely")
  func replayable() async throws {
    bench.answer(.busy(), .lost, .status(204))
    #expect(await bench.outcome(of: .put("/ping", content: pieces(isReplayable: true)), bench.client()) == nil)
    #expect(stub.exchanges.map(\.text) == ["abab", "abab", "abab"])
    bench.answer(.busy(), .status(204))
    #expect(await bench.outcome(of: .put("/ping", content: .json(["a": 1])), bench.client()) == nil)
    #expect(stub.exchanges.dropFirst(3).map(\.text) == [#"{"a":1}"#, #"{"a":1}"#])
  }

  @Test("A call with one-time content is not retried, and the error has the reason")
  func once() async throws {
    bench.answer(.busy(), .status(204))
    let request = Request<Void>.put("/ping", content: pieces(isReplayable: false))
    let error = try #require(await bench.outcome(of: request, bench.client()))
    #expect(error.code == .rejected && error.status == 503)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.contentNotReplayable)])
    #expect("\(error)".contains("not retried: the content can be sent only once"))
    #expect(stub.exchanges.map(\.text) == ["abab"])
  }

  @Test("One-time content that was not read yet can still be sent by a retry")
  func untouched() async throws {
    bench.answer(.status(204))
    let passes = Log<Int>()
    let api = bench.client { $0.insert(FailingFirst(passes: passes), .before(.transport)) }
    try await api.send(Request<Void>.post("/ping", content: pieces(isReplayable: false)))
    #expect(passes.all.count == 2 && stub.exchanges.map(\.text) == ["abab"])
  }

  @Test("Content that the app fails to produce is not retried, even if it is replayable")
  func torn() async throws {
    struct OutOfPaper: Error {}
    bench.answer(.status(204))
    let content = ContentStream(isReplayable: true) { { throw OutOfPaper() } }
    let error = try #require(await bench.outcome(of: .put("/ping", content: .stream(content)), bench.client()))
    #expect(error.code == .connectionLost && error.underlying is OutOfPaper)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notTemporary)] && stub.exchanges.count == 1)
  }

  // MARK: Keys

  private let field = "Idempotency-Key"

  private var keys: [String?] { stub.exchanges.map { $0.fields[text: field] } }

  @Test("A generated idempotency key is a new UUID for each call and the same for all its attempts")
  func minted() async throws {
    var client = TestClient()
    client.settings.runtime.clock = bench.clock
    client.settings.runtime.random = SeededGenerator.source(seed: 7)
    client.customize = { $0.insert(RetryMiddleware(), .after(.retry)) }
    let api = client.over(stub)
    let request = Request<Void>.post("/ping").idempotencyKey()
    bench.answer(.busy(), .busy(409), .status(204))
    #expect(await bench.outcome(of: request, api) == nil)
    bench.answer(.status(204))
    #expect(await bench.outcome(of: request, api) == nil)
    #expect(keys.count == 4 && Set(keys.prefix(3)).count == 1 && Set(keys).count == 2)
    let key = try #require(keys.compactMap { $0 }.first)
    let parts = key.split(separator: "-")
    #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
    #expect(key.allSatisfy { $0 == "-" || $0.isHexDigit } && key == key.lowercased())
    #expect(parts[2].hasPrefix("4") && "89ab".contains(parts[3].prefix(1)))
  }

  @Test("An app's own idempotency key is sent bare or quoted, even without retries")
  func own() async throws {
    bench.answer(.status(204))
    let api = bench.client(.none)
    let post = Request<Void>.post("/ping")
    try await api.send(post.idempotencyKey(IdempotencyKey("k-1")))
    try await api.send(post.idempotencyKey(IdempotencyKey(#"a"b\c"#, isQuoted: true)))
    try await api.send(post.field(field, "mine").idempotencyKey())
    try await api.send(post)
    #expect(keys == ["k-1", #""a\"b\\c""#, "mine", nil])
    // A quotation mark with a combining mark still ends the string.
    let marked = IdempotencyKey("a\"\u{301}b\\\u{301}", isQuoted: true).rawField { 0 }.value
    #expect(Array(marked.utf8) == Array("\"a\\\"\u{301}b\\\\\u{301}\"".utf8))
    try await api.send(post.idempotencyKey(IdempotencyKey("k-2", field: "X-Request-Key")))
    let last = try #require(stub.exchanges.last)
    #expect(last.fields[text: "X-Request-Key"] == "k-2" && last.fields[text: field] == nil)
    let error = await failure { try await api.send(post.idempotencyKey(IdempotencyKey("a\r\nb"))) }
    #expect(error?.code == .invalidRequest)
  }

  @Test("A call with an idempotency key is retried, whether the key is generated or set in a field")
  func keyed() async {
    bench.answer(.lost)
    let post = Request<Void>.post("/ping")
    let requests = [
      post.idempotencyKey(), post.field(field, "mine"), post.idempotencyKey(IdempotencyKey("k", field: "X-Key")),
    ]
    for request in requests {
      #expect(await bench.outcome(of: request, bench.client())?.attempts == 3)
    }
  }

  @Test("A message created without sending has its idempotency key, and no description contains the key")
  func described() async throws {
    let key = IdempotencyKey(sentinel)
    let message = try await bench.client().message(for: Request<Void>.post("/ping").idempotencyKey(key))
    #expect(message.head.headerFields[text: field] == sentinel && stub.exchanges.isEmpty)
    #expect(!message.curl().contains(sentinel) && !texts(of: key).contains(sentinel))
    bench.answer(.busy())
    let error = try #require(
      await bench.outcome(of: .post("/ping").idempotencyKey(key), bench.client()))
    #expect(!texts(of: error).contains(sentinel) && !texts(of: error.trace).contains(sentinel))
  }
}

/// A middleware that fails the first attempt.
private struct FailingFirst: Middleware {
  let passes: Log<Int>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    passes.add(context.attempt)
    guard passes.all.count > 1 else { throw TransportError(.connectionFailed, requestState: .notSent) }
    return try await next(request, context: context)
  }
}
