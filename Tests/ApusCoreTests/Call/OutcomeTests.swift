import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("The outcome of a call")
struct OutcomeTests {
  /// Returns the stubbed response for the number in the target.
  private static func answer(to number: UInt64, _ gate: Gate) -> StubReply {
    switch number % 9 {
    case 0: .text("ok")
    case 1: .text("gated").waiting(for: gate)
    case 2: .pieces(["a", "b", "c"])
    case 3: .pieces(["a", "b"], gate: gate)
    case 4: .status(503)
    case 5: .failure(TransportError(.connectionFailed, requestState: .notSent))
    case 6: .pieces(["a", "b"]).failing(after: 1)
    case 7: .pieces(["a"]).stalled(after: 1)
    default: .stalled
    }
  }

  @Test("Each of ten thousand mixed calls that are cancelled at random ends once", arguments: 0..<20)
  func mixed(seed: UInt64) async throws {
    let bench = CallBench()
    let gate = Gate()
    bench.stub.on(where: { _, _ in true }, reply: { Self.answer(to: UInt64($0.target.dropFirst()) ?? 0, gate) })
    let policies: [DuplicatePolicy] = [.allow, .refuse, .cancelPrevious, .coalesce]
    var generator = SeededGenerator(seed: seed)
    let numbers = (0..<500).map { _ in generator.next() >> 8 }
    let outcomes = await withTaskGroup(of: Result<String, CallError>.self) { group in
      for (index, number) in numbers.enumerated() {
        let request = Request<String>.get("/\(number % 40)")
          .id(CallID("\(number % 7)"), onDuplicate: policies[Int(number >> 4) % 4])
          .tag(number % 2 == 0 ? "even" : "odd").timeout(.seconds(Int(number % 5) + 1))
        group.addTask { await bench.api.result(of: request) }
        switch number >> 10 & 15 {
        case 0: bench.api.calls.cancel(id: CallID("\(number % 7)"))
        case 1: bench.api.calls.cancel(tag: "odd")
        case 2: bench.api.calls.cancelAll()
        case 3: gate.release(5)
        case 4: bench.clock.advance(by: .milliseconds(500))
        default: break
        }
        if index % 50 == 49 { await Task.yield() }
      }
      var outcomes: [Result<String, CallError>] = []
      let ending = Task {
        // Stalled calls end at their deadline; time advances until all calls have ended.
        while !Task.isCancelled {
          bench.clock.advance(by: .seconds(1))
          await Task.yield()
        }
      }
      for await outcome in group { outcomes.append(outcome) }
      ending.cancel()
      await ending.value
      return outcomes
    }
    #expect(outcomes.count == 500)
    let expected: Set<CallError.Code> = [.cancelled, .timeout, .refused, .rejected, .connectionFailed, .connectionLost]
    #expect(outcomes.allSatisfy { $0.error.map { expected.contains($0.code) } ?? true })
    #expect(bench.log.ends.count == 500)
    #expect(Set(bench.log.ends.map(\.serial)).count == 500)
    #expect(bench.api.calls.isEmpty)
    try await bench.stub.waitUntilIdle()
  }

  @Test("A response that a middleware returns without an exchange provides the head")
  func answeredInPlace() async throws {
    let stored = Doing { request, context, next in
      if context.call.tags.contains("validated") {
        _ = try await next(request, context: context)
      }
      return .text("stored", HTTPResponse(status: .nonAuthoritativeInformation, headerFields: [.age: "7"]))
    }
    let bench = CallBench(middlewares: [(stored, .cache)])
    bench.stub.onAny(reply: .status(304))
    for request in [Request<String>.get("/"), Request<String>.get("/").tag("validated")] {
      let response = try await bench.api.response(to: request)
      #expect(response.value == "stored")
      #expect(response.head.status == .nonAuthoritativeInformation)
      #expect(response.head.headerFields[.age] == "7")
    }
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("An error of the second attempt contains no part of the first attempt's response")
  func secondAttempt() async throws {
    let twice = Doing { request, context, next in
      try await next(request, context: context).discard()
      var context = context
      context.attempt = 2
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(twice, .retry)])
    bench.stub.on(.get, "/", replies: [.status(503), .stalled])
    let call = Task { await bench.api.result(of: Request<String>.get("/").timeout(.seconds(1))) }
    try await bench.stub.waitForExchanges(2)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    let error = try #require(await call.value.error)
    #expect(error.code == .timeout)
    #expect(error.status == nil)
    #expect(error.requestState == .maybeSent)
    #expect(error.attempts == 2)
  }

  @Test("Describing a message sends nothing, registers nothing and reports no event")
  func described() async throws {
    let seen = Log<Int>()
    let adding = Doing { request, context, next in
      seen.add(context.delivery == .described ? 1 : 0)
      var request = request
      try request.addField(RawField("X-Added", "yes"))
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(adding, .authentication)])
    let request = Request<String>.post("/users/\(7)", content: .json(["a": 1]))
      .accepting(.statuses(201)).id("one", onDuplicate: .refuse)
    let message = try await bench.api.message(for: request)
    #expect(message.url == "https://x.test/users/7")
    #expect(message.head.headerFields[.contentType] == "application/json")
    #expect(message.head.headerFields.contains { $0.value == "yes" })
    #expect(message.content.length == 7)
    #expect(seen.all == [1])
    #expect(bench.stub.exchanges.isEmpty)
    #expect(bench.log.events.isEmpty)
    #expect(bench.api.calls.isEmpty)
  }

  @Test("Describing a message that cannot be prepared throws the reason")
  func describedFault() async {
    let bench = CallBench()
    let error = await #expect(throws: CallError.self) {
      try await bench.api.message(for: Request<String>.get("/users/\("..")"))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test("Describing a message does not supersede a running call with the same id")
  func describedBeside() async throws {
    let bench = CallBench()
    let gate = Gate()
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let request = Request<String>.get("/").latestWins("one")
    let call = Task { await bench.api.result(of: request) }
    try await gate.waitForArrivals(1)
    _ = try await bench.api.message(for: request)
    gate.open()
    #expect(try await call.value.get() == "ok")
  }
}
