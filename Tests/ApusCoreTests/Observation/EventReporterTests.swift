import ApusTesting
import Synchronization
import Testing

@testable import ApusCore

@Suite("Reporting events to observers")
struct EventReporterTests {
  /// An observer that records the order of events, and whether two events were reported at the same time.
  private final class Watcher: CallObserver {
    let numbers = Log<Int64>()
    let overlaps = Mutex(0)
    private let isBusy = Mutex(false)

    func observe(_ event: TraceEvent, of call: CallEntry) {
      let wasBusy = isBusy.withLock { isBusy in
        defer { isBusy = true }
        return isBusy
      }
      if wasBusy { overlaps.withLock { $0 += 1 } }
      if case .note(_, let number) = event.kind { numbers.add(number) }
      isBusy.withLock { $0 = false }
    }
  }

  @Test("Events from many threads are reported one at a time, in the order of the trace, to every observer")
  func concurrent() async throws {
    let watchers = [Watcher(), Watcher()]
    let bench = CallBench(observers: watchers)
    let call = Call(Request<Void>.get("/").box, delivery: .buffered, from: bench.api.callSource)
    await withTaskGroup { group in
      for thread in 0..<8 {
        group.addTask { for step in 0..<50 { call.record(.note("step", Int64(thread * 100 + step))) } }
      }
    }
    try call.succeed()
    let traced = call.trace.events.compactMap { event -> Int64? in
      if case .note(_, let number) = event.kind { return number }
      return nil
    }
    #expect(traced.count == 400)
    for watcher in watchers {
      #expect(watcher.numbers.all == traced)
      #expect(watcher.overlaps.withLock { $0 } == 0)
    }
  }

  @Test("An event caused by an observer is reported after the current event")
  func reentrant() {
    final class Echo: CallObserver {
      let seen = Log<String>()

      func observe(_ event: TraceEvent, of call: CallEntry) {
        if event.kind == .started { call.cancel() }
        seen.add(event.kind.description)
      }
    }
    let echo = Echo()
    let bench = CallBench(observers: [echo])
    let call = Call(Request<Void>.get("/").box, delivery: .buffered, from: bench.api.callSource)
    call.record(.started)
    #expect(echo.seen.all == ["started", "cancel requested: by the app"])
    #expect(bench.log.events == echo.seen.all)
  }

  @Test("No event is reported after the end of the call")
  func afterTheEnd() throws {
    let bench = CallBench()
    let call = Call(Request<Void>.get("/").box, delivery: .buffered, from: bench.api.callSource)
    try call.succeed()
    call.record(.decoded)
    call.cancel(.requested)
    try call.succeed()
    #expect(bench.log.events == ["succeeded"])
  }
}
