import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Retry: calls with several hops")
struct RetryHopsTests {
  private let bench = RetryBench()
  private var stub: StubTransport { bench.stub }

  private func client(_ policy: RetryPolicy = .app) -> Client {
    bench.client(policy) { $0.insert(RedirectMiddleware(), .after(.redirects)) }
  }

  private func executions(at host: String, _ method: HTTPRequest.Method = .post) -> Int {
    stub.exchanges.count { $0.request.head.authority == host && $0.request.head.method == method }
  }

  private let order = Request<Void>.post("/orders", content: .json(["item": 1]))
  private static let failures: [StubReply] = [
    .busy(), .busy(500), .busy(503, fields: [.retryAfter: "1"]), .lost,
    .failure(TransportError(.timeout, in: .awaitingHead, requestState: .maybeSent)),
  ]

  @Test("A redirected POST whose idempotency key was not sent to another origin is not retried", arguments: failures)
  func keyLeftBehind(failure: StubReply) async throws {
    stub.on(url: "https://api.example.com/v1/orders", .redirect(307, to: "https://b.example/orders"))
    stub.on(url: "https://b.example/orders", failure)
    let error = try #require(await bench.outcome(of: order.idempotencyKey(), client()))
    #expect(executions(at: "b.example") == 1)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notIdempotent)])
  }

  @Test("A POST with an idempotency key that is redirected within its origin is retried with all hops")
  func keyGoesAlong() async throws {
    stub.on(url: "https://api.example.com/v1/orders", .redirect(307, to: "/new/orders"))
    stub.on(url: "https://api.example.com/new/orders", .busy())
    let error = try #require(await bench.outcome(of: order.idempotencyKey(), client()))
    #expect(error.attempts == 3 && stub.exchanges.count == 6)
    #expect(Set(stub.exchanges.map { $0.fields[text: "Idempotency-Key"] }).count == 1)
  }

  @Test("A POST that a 303 turned into a GET is not retried, whatever the GET's response is", arguments: failures)
  func turnedIntoGet(failure: StubReply) async throws {
    stub.on(url: "https://api.example.com/v1/orders", .redirect(303, to: "/orders/1"))
    stub.on(url: "https://api.example.com/orders/1", failure)
    var policy = RetryPolicy.app
    policy.retriesNonIdempotent = true
    let error = try #require(await bench.outcome(of: order, client(policy)))
    #expect(executions(at: "api.example.com") == 1)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notIdempotent)])
  }

  @Test(
    "A retry hint in the response of the last hop does not permit repeating an earlier POST",
    arguments: [StubReply.busy(421), .busy(400, fields: [HTTPField.Name("x-should-retry") ?? .via: "true"])])
  func retryHintOfTheLastHop(answer: StubReply) async throws {
    stub.on(url: "https://api.example.com/v1/orders", .redirect(303, to: "/orders/1"))
    stub.on(url: "https://api.example.com/orders/1", answer)
    let error = try #require(await bench.outcome(of: order, client()))
    #expect(executions(at: "api.example.com") == 1)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notIdempotent)])
  }

  @Test("A call whose last hop was not sent is retried if an idempotency key protects the earlier hops")
  func hopNotSent() async throws {
    stub.on(url: "https://api.example.com/v1/orders", .redirect(307, to: "https://b.example/orders"))
    stub.on(url: "https://b.example/orders", .unreachable)
    let error = try #require(await bench.outcome(of: order.idempotencyKey(), client()))
    #expect(error.attempts == 3 && executions(at: "api.example.com") == 3)
  }

  @Test("A redirected GET is retried with all hops, unless declared not idempotent")
  func gets() async throws {
    stub.on(url: "https://api.example.com/v1/ping", .redirect(302, to: "https://b.example/ping"))
    stub.on(url: "https://b.example/ping", .busy())
    #expect(await bench.outcome(of: .ping, client())?.attempts == 3)
    #expect(await bench.outcome(of: .ping.idempotent(false), client())?.attempts == 1)
    #expect(executions(at: "b.example", .get) == 4)
  }

  @Test("Each retry counts the hops of its own attempt only")
  func attemptsCountAnew() async throws {
    var policy = RetryPolicy.app
    policy.retriesNonIdempotent = true
    stub.on(
      .post, "/v1/orders",
      replies: [.busy(503, fields: [.retryAfter: "1"]), .busy(429, fields: [.retryAfter: "1"]), .status(204)])
    #expect(await bench.outcome(of: order, client(policy)) == nil)
    #expect(stub.exchanges.count == 3)
  }
}
