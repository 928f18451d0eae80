import Apus
import ApusTestServer
import TestSupport
import Testing

@Suite("20: cancelling one call")
struct Capability20CancelTests {
  @Test("A call cancelled before it starts sends nothing")
  func beforeStart() async throws {
    try await withServer { api, server in
      let call = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await failure { try await api.send(.ping) }
      }
      let error = try #require(await call.value)
      #expect(error.code == .cancelled)
      #expect(error.requestState == .notSent)
      #expect(server.acceptedConnections == 0)
    }
  }

  /// The point at which a server's reply stalls.
  enum Stall: CaseIterable {
    case head, content

    var reply: Reply {
      switch self {
      case .head: .stalled
      case .content: Reply.text("0123456789").stalling(at: .content(4))
      }
    }
  }

  @Test(
    "A call in flight ends as cancelled, whatever cancels it, and its connection is closed",
    arguments: Stall.allCases)
  func inFlight(stall: Stall) async throws {
    try await withServer(answering: stall.reply) { api, server in
      for canceller in 0..<3 {
        let call = Task {
          await failure { try await api.send(Request<String>.get("/a").id("a", onDuplicate: .allow)) }
        }
        let exchange = try await server.exchange { $0.id == canceller }
        if stall == .content { try await received(api) }
        switch canceller {
        case 0: call.cancel()
        case 1: api.calls.cancel(id: "a")
        default: api.calls.all.first?.cancel()
        }
        let error = try #require(await call.value)
        #expect(error.code == .cancelled)
        #expect(error.code == .cancelled)
        #expect(error.cancellation == (canceller == 0 ? .caller : .requested))
        #expect(error.requestState == (stall == .head ? .maybeSent : .responded))
        try await server.waitForClientClose(of: exchange)
        #expect(api.calls.isEmpty)
      }
    }
  }

  private func received(_ api: Client) async throws {
    try await waitWhile(api.calls.all.first?.received.bytes ?? 0 == 0)
  }

  /// Runs in a separate process, so that concurrent tests do not affect the measurement.
  @Test("A cancelled call in flight ends within 100 ms")
  func inTime() async {
    await #expect(processExitsWith: .success) {
      try await withServer(answering: .stalled) { api, server in
        var times: [Duration] = []
        for round in 0..<21 {
          let call = Task { await failure { try await api.send(.ping) } }
          try await server.exchange { $0.id == round }
          let start = ContinuousClock.now
          call.cancel()
          let error = await call.value
          times.append(start.duration(to: .now))
          #expect(error?.code == .cancelled)
        }
        // The median is compared, because a busy machine may delay some calls.
        #expect(times.sorted()[10] < .milliseconds(100))
      }
    }
  }

  @Test("Cancelling a finished call has no effect")
  func afterEnd() async throws {
    try await withServer(answering: .text("done")) { api, _ in
      let call = Task { try await api.send(Request<String>.get("/a")) }
      let text = try await call.value
      call.cancel()
      #expect(api.calls.cancelAll() == 0)
      #expect(text == "done")
      let again = try await api.send(Request<String>.get("/a"))
      #expect(again == "done")
    }
  }

  @Test("Cancelling a call does not cancel the caller's task")
  func taskContinues() async throws {
    try await TestServer.with {
      $0.number == 0 ? .stalled : .text("next")
    } body: { server in
      let api = server.client()
      let task = Task {
        let first = await failure { try await api.send(Request<String>.get("/a")) }
        return (first?.code, try await api.send(Request<String>.get("/b")), Task.isCancelled)
      }
      try await server.exchange()
      api.calls.cancelAll()
      let (code, text, isCancelled) = try await task.value
      #expect(code == .cancelled)
      #expect(text == "next")
      #expect(!isCancelled)
    }
  }

  @Test("Cancelling a call does not affect other calls")
  func others() async throws {
    let gate = Gate()
    try await withServer(answering: Reply.text("done").waiting(for: gate)) { api, server in
      async let kept = api.send(Request<String>.get("/kept"))
      async let cancelled = failure { try await api.send(.get("/cancelled").id("c", onDuplicate: .allow)) }
      try await server.exchanges(atLeast: 2)
      api.calls.cancel(id: "c")
      let error = await cancelled
      #expect(error?.code == .cancelled)
      gate.open()
      let text = try await kept
      #expect(text == "done")
    }
  }
}
