import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ApusCore

@Suite("Repeatable messages")
struct RepeatingTests {
  private let stub = StubTransport()
  private let seen = Seen()

  /// A middleware next to the transport that records the repeatability of each message.
  private final class Seen: Middleware {
    struct Pass: Equatable {
      var isRepeatable: Bool
      var hasKey: Bool
      var sent: SentMessages
    }

    let passes = Mutex<[Pass]>([])

    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var pass = Pass(
        isRepeatable: context.isRepeatable(request.head), hasKey: context.hasIdempotencyKey(request.head),
        sent: .repeatable)
      defer {
        pass.sent = context.sentMessages
        passes.withLock { [pass] in $0.append(pass) }
      }
      return try await next(request, context: context)
    }
  }

  private func pass(_ request: Request<Void>, answer: StubReply = .status(204)) async throws -> Seen.Pass {
    stub.onAny(reply: answer)
    var pipeline = Pipeline()
    pipeline.insert(seen, .before(.transport))
    let client = Client(
      environment: Environment(baseURL: "https://a.test"), pipeline: pipeline, transport: stub)
    do { try await client.send(request) } catch {}
    return try #require(seen.passes.withLock { $0.last })
  }

  @Test(
    "Idempotent methods are those of RFC 9110 and RFC 10008",
    arguments: [
      ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true), ("DELETE", true),
      ("QUERY", true), ("POST", false), ("PATCH", false), ("CONNECT", false), ("get", false), ("X", false),
    ])
  func methods(name: String, isIdempotent: Bool) throws {
    #expect(try #require(HTTPRequest.Method(name)).isIdempotent == isIdempotent)
  }

  @Test("A message is repeatable by its method, by its endpoint's declaration, or with an idempotency key")
  func rule() async throws {
    let (get, post) = (Request<Void>.get("/"), Request<Void>.post("/"))
    #expect(try await pass(get).isRepeatable)
    #expect(try await !pass(get.setting(IdempotenceKey.self, false)).isRepeatable)
    #expect(try await !pass(post).isRepeatable)
    #expect(try await pass(post.setting(IdempotenceKey.self, true)).isRepeatable)
    let keyed = try await pass(post.field("idempotency-key", "k").setting(IdempotenceKey.self, false))
    #expect(keyed.isRepeatable && keyed.hasKey)
    #expect(try await !pass(post.field("X-Key", "k")).hasKey)
    #expect(try await pass(post.field("X-Key", "k").setting(IdempotencyFieldKey.self, "X-Key")).hasKey)
    #expect(try await !pass(post.setting(IdempotencyFieldKey.self, "X-Key")).isRepeatable)
  }

  @Test("The sent messages exclude an unrepeatable message that was not sent or was rejected with 401")
  func sent() async throws {
    let post = Request<Void>.post("/")
    #expect(try await pass(.get("/")).sent == .repeatable)
    #expect(try await pass(post).sent == .endsUnrepeatable)
    #expect(try await pass(post, answer: .status(503)).sent == .endsUnrepeatable)
    #expect(try await pass(post, answer: .status(401)).sent == .repeatable)
    let lost = StubReply.failure(TransportError(.connectionLost, requestState: .maybeSent))
    #expect(try await pass(post, answer: lost).sent == .endsUnrepeatable)
    let unreached = StubReply.failure(TransportError(.connectionFailed, requestState: .notSent))
    #expect(try await pass(post, answer: unreached).sent == .repeatable)
  }

  @Test("A redirect after an unrepeatable message makes the attempt unrepeatable; a new attempt is repeatable")
  func hops() {
    let instant = MonotonicInstant(sinceStart: .zero)
    let origin = Origin(scheme: "https", host: "a.test", port: 443)
    let redirect = TraceEvent.Kind.redirected(status: 303, from: origin, to: origin)
    var state = CallState()
    state.append(TraceEvent(kind: redirect, instant: instant, attempt: 1))
    #expect(state.sentMessages == .repeatable)
    state.sentUnrepeatable()
    #expect(state.sentMessages == .endsUnrepeatable)
    var ended = state
    ended.appendLate(TraceEvent(kind: redirect, instant: instant, attempt: 1))
    state.append(TraceEvent(kind: redirect, instant: instant, attempt: 1))
    state.sentUnrepeatable()
    #expect(state.sentMessages == .unrepeatable && ended.sentMessages == .unrepeatable)
    let failed = FailedAttempt(1, in: instant...instant, .status(503), .retry(after: .zero, .backoff))
    state.append(TraceEvent(kind: .attemptFailed(failed), instant: instant, attempt: 1))
    #expect(state.sentMessages == .repeatable)
  }

  @Test("A call queued for a connection has the phase waiting and an unchanged request state")
  func queued() {
    func append(_ kinds: [TraceEvent.Kind], to state: inout CallState) {
      for kind in kinds {
        state.append(TraceEvent(kind: kind, instant: MonotonicInstant(sinceStart: .zero), attempt: 1))
      }
    }
    var state = CallState(reportsConnections: true)
    append([.prepared, .exchangeStarted, .phase(.queued, .seconds(1))], to: &state)
    #expect(state.phase == .waiting && state.requestState == .notSent)
    append([.connected(reused: true)], to: &state)
    #expect(state.phase == .connecting && state.requestState == .maybeSent)
    append([.requestSent, .resent, .phase(.queued, .seconds(1))], to: &state)
    #expect(state.phase == .waiting && state.requestState == .maybeSent)
  }
}
