import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("A client's observers")
struct ObserverTests {
  /// An observer that records the events that it receives.
  private struct Named: CallObserver {
    let name: String
    let told: Log<String>

    func observe(_ event: TraceEvent, of call: CallEntry) {
      told.add("\(name): \(event.kind)")
    }
  }

  /// An observer that performs work when a call starts.
  private final class Busy: CallObserver {
    let work = Log<@Sendable () -> Void>()

    func observe(_ event: TraceEvent, of call: CallEntry) {
      guard event.kind == .started, call.tags.contains("slow") else { return }
      for work in work.all { work() }
    }
  }

  @Test("Every observer receives an event, in order, before the next event is reported")
  func order() async throws {
    let told = Log<String>()
    let bench = CallBench(observers: [Named(name: "a", told: told), Named(name: "b", told: told)])
    let gate = Gate()
    gate.open()
    bench.stub.onAny(reply: .pieces(["x", "y"], gate: gate))
    let trace = try await bench.api.response(to: Request<String>.get("/")).trace
    let expected = trace.events.map(\.kind.description)
    let kept = told.all.filter { !$0.contains(": received ") && !$0.contains(": sent ") }
    #expect(kept == expected.flatMap { ["a: \($0)", "b: \($0)"] })
    let progress = told.all.filter { $0.hasPrefix("a: received ") }
    #expect(progress == ["a: received 1 of an unknown number of bytes", "a: received 2 of an unknown number of bytes"])
  }

  @Test("An observer that is busy with one call does not delay other calls")
  func slow() async throws {
    let executor = ManualExecutor()
    let busy = Busy()
    let bench = CallBench(executor: executor, observers: [busy])
    bench.stub.onAny(reply: .text("ok"))
    let calls = ["slow", "quick"].map { tag in
      Task(executorPreference: executor) { await bench.api.result(of: Request<String>.get("/").tag(ApusCore.Tag(tag))) }
    }
    let seen = Log<[String]>()
    busy.work.add {
      // The other call runs to its end meanwhile.
      executor.runAll()
      for entry in bench.api.calls.all { seen.add(entry.tags.map(\.name)) }
    }
    executor.runAll()
    #expect(seen.all == [["slow"]])
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.log.ends.map(\.serial) == [2, 1])
    #expect(bench.isClean)
  }

  @Test("A client retains its observers and reports only its own calls to them")
  func fixed() async throws {
    let told = Log<String>()
    let stub = StubTransport()
    stub.onAny(reply: .text("ok"))
    var settings = ClientSettings()
    func client() -> Client {
      Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
    }
    settings.observers = [Named(name: "first", told: told)]
    let first = client()
    settings.observers = [Named(name: "second", told: told)]
    let second = client()
    settings.observers = []
    let silent = client()
    let copy = first
    for api in [first, second, silent, copy] { _ = try await api.send(Request<String>.get("/")) }
    #expect(
      told.all.filter { $0.hasSuffix("succeeded") }.map { $0.prefix { $0 != ":" } } == ["first", "second", "first"])
  }

  @Test("A call without observers is traced and counted like an observed call")
  func none() async throws {
    let gate = Gate()
    let stub = StubTransport()
    stub.onAny(reply: .pieces(["abc", "de"], gate: gate))
    var settings = ClientSettings()
    settings.runtime.clock = ManualClock(.manual)
    let silent = Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
    settings.observers = [EventLog()]
    let observed = Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
    let call = Task { try await silent.response(to: Request<String>.get("/")) }
    try await gate.waitForArrivals(1)
    gate.release()
    try await gate.waitForArrivals(2)
    let entry = try #require(silent.calls.all.first)
    #expect(entry.received.bytes == 3)
    gate.open()
    let trace = try await call.value.trace
    #expect(trace.events == (try await observed.response(to: Request<String>.get("/")).trace.events))
    #expect(entry.received.bytes == 5)
  }
}
