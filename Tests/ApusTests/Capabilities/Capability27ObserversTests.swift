import Apus
import ApusTestServer
import HTTPTypes
import Testing

@Suite("27: observers")
struct Capability27ObserversTests {
  private final class Observer: CallObserver {
    let events = Log<(call: UInt64, kind: TraceEvent.Kind)>()

    func observe(_ event: TraceEvent, of call: CallEntry) {
      events.add((call.serial, event.kind))
    }

    /// The steps of a call that do not depend on how bytes are split.
    var steps: [String] {
      events.all.compactMap { event in
        switch event.kind {
        case .started: "started"
        case .prepared: "prepared"
        case .exchangeStarted: "exchange"
        case .headArrived(let status): "head \(status)"
        case .contentArrived(let length): "content \(length)"
        case .cancelRequested(let reason): "cancel \(reason)"
        case .decoded: "decoded"
        case .succeeded: "succeeded"
        case .failed(let code): "failed \(code.rawValue)"
        default: nil
        }
      }
    }
  }

  @Test("Several observers receive start, exchange, response and end of a call, in order")
  func inOrder() async throws {
    let (first, second) = (Observer(), Observer())
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      let api = server.client { $0.observers = [first, second] }
      _ = try await api.send(Request<String>.get("/a"))
    }
    let steps = ["started", "prepared", "exchange", "head 200", "content 5", "decoded", "succeeded"]
    #expect(first.steps == steps)
    #expect(second.steps == steps)
  }

  @Test("The end of a call is reported once: a rejection with its code, a cancellation with its reason")
  func ends() async throws {
    let observer = Observer()
    try await TestServer.with {
      $0.number == 0 ? .status(404) : .stalled
    } body: { server in
      let api = server.client { $0.observers = [observer] }
      _ = await failure { try await api.send(.ping) }
      #expect(observer.steps.suffix(2) == ["content 0", "failed rejected"])
      async let cancelled = failure { try await api.send(.ping) }
      try await server.exchanges(atLeast: 2)
      api.calls.cancelAll()
      _ = await cancelled
      #expect(observer.steps.suffix(2) == ["cancel by the app", "failed cancelled"])
    }
  }

  private struct Attempts: CallObserver {
    let events = Log<String>()

    func observe(_ event: TraceEvent, of call: CallEntry) {
      switch event.kind {
      case .exchangeStarted: events.add("exchange of attempt \(event.attempt)")
      case .headArrived(let status): events.add("\(status) to attempt \(event.attempt)")
      default: break
      }
    }
  }

  @Test("Each attempt is reported to observers with its number")
  func attempts() async throws {
    let observer = Attempts()
    try await TestServer.with {
      $0.number == 0 ? .status(503) : .status(204)
    } body: { server in
      let api = server.client {
        $0.observers = [observer]
        $0.customizePipeline = { $0.insert(RetryOnce(), .before(.retry)) }
      }
      try await api.send(.ping)
    }
    #expect(
      observer.events.all == [
        "exchange of attempt 1", "503 to attempt 1", "exchange of attempt 2", "204 to attempt 2",
      ])
  }

  private struct Canceller: CallObserver {
    func observe(_ event: TraceEvent, of call: CallEntry) {
      if case .headArrived = event.kind { call.cancel() }
    }
  }

  @Test("An observer can cancel the call it observes")
  func cancelling() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      let api = server.client { $0.observers = [Canceller()] }
      let error = await failure { try await api.send(Request<String>.get("/a")) }
      #expect(error?.cancellation == .requested)
    }
  }

  @Test("Progress events have the number of received bytes, up to the whole content")
  func progress() async throws {
    let observer = Observer()
    try await TestServer.with { _ in
      .generated(500_000)
    } body: { server in
      let api = server.client { $0.observers = [observer] }
      _ = try await api.response(to: Request<Content>(method: .get, path: "/a", mapping: .content))
    }
    let received = observer.events.all.compactMap { event -> Int64? in
      if case .receiveProgress(let bytes, let expected) = event.kind {
        #expect(expected == 500_000)
        return bytes
      }
      return nil
    }
    #expect(received == received.sorted())
    #expect(received.last == 500_000)
  }

  @Test("Creating a message without sending it reports no event")
  func described() async throws {
    let observer = Observer()
    let api = Client(baseURL: "https://example.test") { $0.observers = [observer] }
    _ = try await api.message(for: .ping)
    #expect(observer.events.all.isEmpty)
  }
}
