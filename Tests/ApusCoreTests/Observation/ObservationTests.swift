import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Observing calls")
struct ObservationTests {
  @Test("Observers receive every event in order, with instants of the client's clock")
  func order() async throws {
    let others = [EventLog(), EventLog()]
    let bench = CallBench(observers: others)
    bench.stub.onAny(reply: .text("ok").after(.milliseconds(20)))
    async let answer = bench.api.response(to: Request<String>.get("/"))
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(20))
    let trace = try await answer.trace
    let expected = [
      "started", "request prepared", "exchange started", "request sent", "response with status 200",
      "content complete, 2 bytes", "decoded", "succeeded",
    ]
    for log in [bench.log] + others { #expect(log.events == expected) }
    #expect(trace.events.map(\.kind.description) == expected)
    #expect(trace.events.map(\.instant.sinceStart) == [0, 0, 0, 0, 20, 20, 20, 20].map { .milliseconds($0) })
    #expect(trace.duration == .milliseconds(20))
  }

  @Test("The trace of a failed call ends with the error's code")
  func failure() async throws {
    let bench = CallBench()
    bench.stub.onAny(reply: .status(503))
    let error = try #require(await bench.api.result(of: Request<String>.get("/")).error)
    #expect(error.trace.events.last?.kind == .failed(.rejected))
    #expect(bench.log.events.last == "failed: rejected")
  }

  @Test("An observer can cancel a call on any event", arguments: 0..<8)
  func cancelling(at number: Int) async throws {
    struct Canceller: CallObserver {
      let number: Int
      let count = Log<Int>()

      func observe(_ event: TraceEvent, of call: CallEntry) {
        if count.all.count == number { call.cancel() }
        count.add(1)
      }
    }
    let bench = CallBench(observers: [Canceller(number: number)])
    bench.stub.onAny(reply: .text("ok"))
    let result = await bench.api.result(of: Request<String>.get("/"))
    // At the last event the call can no longer be cancelled; progress is reported between the head and the content's
    // end.
    let isEnd = result.error == nil
    #expect(isEnd || result.error?.cancellation == .requested)
    #expect(!isEnd || number > 7)
    #expect(bench.log.ends.count == 1)
    #expect(bench.isClean)
  }

  @Test("An observer can cancel a call through the registry from the first event on")
  func throughTheRegistry() async throws {
    final class Canceller: CallObserver {
      let registry = Log<CallRegistry>()

      func observe(_ event: TraceEvent, of call: CallEntry) {
        guard event.kind == .started else { return }
        #expect(registry.all.first?.cancel(id: call.id) == 1)
      }
    }
    let canceller = Canceller()
    let bench = CallBench(observers: [canceller])
    canceller.registry.add(bench.api.calls)
    bench.stub.onAny(reply: .text("ok"))
    let request = Request<String>.get("/").id("mine", onDuplicate: .allow)
    #expect(await bench.api.result(of: request).error?.cancellation == .requested)
    #expect(bench.stub.exchanges.isEmpty)
  }

  @Test("An observer can start another call")
  func callingBack() async throws {
    final class Caller: CallObserver {
      let client = Log<Client>()
      let calls = Log<Task<String, any Error>>()

      func observe(_ event: TraceEvent, of call: CallEntry) {
        guard event.kind == .succeeded, !call.tags.contains("second"), let client = client.all.first else { return }
        calls.add(Task { try await client.send(Request<String>.get("/").tag("second")) })
      }
    }
    let caller = Caller()
    let bench = CallBench(observers: [caller])
    caller.client.add(bench.api)
    bench.stub.onAny(reply: .text("ok"))
    #expect(try await bench.api.send(Request<String>.get("/")) == "ok")
    #expect(try await caller.calls.all.first?.value == "ok")
  }

  @Test("The registry contains the current state of a running call, and removes the call at its end")
  func registry() async throws {
    let bench = CallBench()
    let gate = Gate()
    bench.stub.onAny(reply: .pieces(["abc", "def"], gate: gate, fields: [.contentLength: "6"]))
    bench.clock.advance(by: .seconds(5))
    let request = Request<String>.get("/files/\(3)").id("file", onDuplicate: .allow).tag("a")
    let call = Task { await bench.api.result(of: request) }
    try await gate.waitForArrivals(1)
    let entry = try #require(bench.api.calls.calls(id: "file").first)
    #expect(bench.api.calls.count == 1)
    #expect(entry.endpoint.template == "/files/{}")
    #expect(entry.tags == ["a"])
    #expect(entry.environment == "default")
    #expect(entry.startInstant == MonotonicInstant(sinceStart: .seconds(5)))
    #expect(entry.phase == .receiving)
    #expect(entry.request?.path == "/files/3")
    #expect(entry.head?.status == .ok)
    #expect(entry.received.expected == 6)
    #expect(!entry.isEnded)
    gate.release()
    try await gate.waitForArrivals(2)
    #expect(entry.received.bytes == 3)
    gate.open()
    #expect(try await call.value.get() == "abcdef")
    #expect(bench.api.calls.isEmpty)
    #expect(entry.isEnded)
    #expect(entry.received.bytes == 6)
  }
}
