import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("Retry: cancellation, streaming, coalescing and the budget")
struct RetryEndingTests {
  private let bench = RetryBench()
  private var stub: StubTransport { bench.stub }
  private var clock: ManualClock { bench.clock }

  // MARK: Cancellation

  @Test("A call that is cancelled during a retry delay ends immediately with the state maybeSent")
  func cancelled() async throws {
    let cases: [(StubReply, RequestState)] = [
      (.lost, .maybeSent), (.busy(), .responded),
      (.failure(TransportError(.offline, requestState: .notSent)), .notSent),
    ]
    for (answer, state) in cases {
      bench.answer(answer)
      let api = bench.client()
      let before = stub.exchanges.count
      async let outcome = failure { try await api.send(.ping) }
      try await clock.waitForSleepers(1)
      api.calls.cancelAll()
      let error = try #require(await outcome)
      #expect(error.code == .cancelled && error.phase == .waiting && error.requestState == state)
      #expect(error.failedAttempts.map(\.decision) == [.retry(after: .milliseconds(100), .backoff)])
      #expect(stub.exchanges.count == before + 1 && clock.sleepers == 0 && api.calls.isEmpty)
    }
  }

  @Test("A request that was not sent completely although the server responded with success is not retried")
  func incomplete() async throws {
    let response = ResponseMessage(head: HTTPResponse(status: .created))
    bench.answer(.failure(TransportError.incompleteRequest(response, sent: 1, of: 2)))
    let error = try #require(await failure { try await bench.client().send(.ping) })
    #expect(error.code == .connectionLost && error.requestState == .responded)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notTemporary)])
    #expect(stub.exchanges.count == 1)
  }

  @Test("The call's deadline ends the last attempt, and the error lists earlier attempts")
  func deadline() async throws {
    bench.answer(.busy(), .stalled)
    let api = bench.client(timeout: .seconds(5))
    async let outcome = failure { try await api.send(.ping) }
    // The sleepers are the retry delay and the deadline.
    try await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(100))
    try await waitWhile(api.calls.all.first?.phase != .awaitingHead)
    clock.advance(by: .seconds(5))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.phase == .awaitingHead && error.attempts == 2)
    #expect(error.failedAttempts.map(\.attempt) == [1])
    try await stub.waitUntilIdle()
  }

  // MARK: Streams

  @Test("A streamed rejection is retried, but not a streamed response whose content the app reads")
  func streaming() async throws {
    bench.answer(
      .pieces(["no"], gate: Gate(), status: 503), .pieces(["a", "b"]).failing(after: 1), .pieces(["a", "b"]))
    let clock = clock
    let api = bench.client()
    let passing = Task {
      try await clock.waitForSleepers(1)
      clock.advanceToNextWake()
    }
    let read = Log<Int>()
    let error = try #require(
      await failure {
        try await api.withResponse(to: Request<String>.get("/ping")) { (response: inout StreamedResponse) in
          while let piece = try await response.next() { read.add(piece.count) }
        }
      })
    try await passing.value
    #expect(read.all == [1] && stub.exchanges.map(\.outcome) == [.cancelled, .failed])
    #expect(error.failedAttempts.map(\.attempt) == [1])
  }

  @Test("A call with truncated buffered content is retried if that is safe")
  func brokenContent() async throws {
    bench.answer(.pieces(["a", "b"]).failing(after: 1), .pieces(["a", "b"]))
    let clock = clock
    let passing = Task {
      try await clock.waitForSleepers(1)
      clock.advanceToNextWake()
    }
    let response = try await bench.client().response(to: Request<String>.get("/ping"))
    try await passing.value
    #expect(response.value == "ab")
    #expect(response.trace.failedAttempts.map(\.cause) == [.failed(.connectionLost, .responded)])
  }

  // MARK: Coalescing

  @Test("Calls that share an exchange share its attempts, and each call's trace has all attempts")
  func joined() async throws {
    let gate = Gate()
    bench.answer(.busy().waiting(for: gate), .json("7"))
    let api = bench.client()
    let request = Request<Int>.get("/ping").id("one", onDuplicate: .coalesce)
    async let first = api.response(to: request)
    try await gate.waitForArrivals(1)
    async let second = api.response(to: request)
    try await waitWhile(!api.calls.all.contains(where: \.hasJoined))
    gate.open()
    try await clock.waitForSleepers(1)
    clock.advanceToNextWake()
    let responses = try await [first, second]
    #expect(responses.map(\.value) == [7, 7] && stub.exchanges.count == 2)
    for response in responses {
      #expect(response.trace.failedAttempts.map(\.cause) == [.status(503)])
    }
  }

  @Test("A shared retry delay continues as long as a call waits, and ends with the last call")
  func leaving() async throws {
    bench.answer(.busy(), .json("7"))
    let api = bench.client()
    let request = Request<Int>.get("/ping").id("one", onDuplicate: .coalesce)
    let first = Task { await failure { try await api.send(request) } }
    try await clock.waitForSleepers(1)
    let second = Task { await failure { try await api.send(request) } }
    try await waitWhile(!api.calls.all.contains(where: \.hasJoined))
    first.cancel()
    #expect(await first.value?.code == .cancelled)
    #expect(clock.sleepers == 1)
    second.cancel()
    #expect(await second.value?.code == .cancelled)
    try await waitWhile(clock.sleepers > 0)
    #expect(stub.exchanges.count == 1 && api.calls.isEmpty)
  }

  // MARK: Budget

  @Test("With an exhausted budget the call fails with its first error, which has the reason budgetExhausted")
  func budget() async throws {
    var budget = RetryBudget()
    budget.capacity = 20
    let api = bench.client(budget: budget)
    bench.answer(.busy())
    let first = try #require(await bench.outcome(api))
    #expect(
      first.failedAttempts.map(\.decision) == [.retry(after: .milliseconds(100), .backoff), .giveUp(.budgetExhausted)])
    let second = try #require(await bench.outcome(api))
    #expect(
      second.status == 503 && second.failedAttempts.last?.giveUpReason == .budgetExhausted && second.attempts == 1)
    bench.answer(.status(204))
    for _ in 0..<8 { try await api.send(.ping) }
    bench.answer(.busy(), .status(204))
    // 6 tokens were left, and 8 were refunded.
    #expect(await bench.outcome(api) == nil)
  }

  // MARK: Order

  @Test("Middlewares outside retry run once per call, middlewares inside once per attempt")
  func place() async throws {
    bench.answer(.busy(), .busy(), .status(204))
    let (outer, inner) = (Log<Int>(), Log<Int>())
    let api = bench.client {
      $0.insert(Counting(passes: outer), .before(.retry))
      $0.insert(Counting(passes: inner), .after(.retry))
    }
    #expect(await bench.outcome(api) == nil)
    #expect(outer.all == [1] && inner.all == [1, 2, 3])
  }
}

private struct Counting: Middleware {
  let passes: Log<Int>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    passes.add(context.attempt)
    return try await next(request, context: context)
  }
}
