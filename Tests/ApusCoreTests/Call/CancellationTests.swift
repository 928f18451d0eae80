import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

private struct GetImage: Endpoint {
  var request: Request<String> { .get("/images/\(1)") }
}

@Suite("Cancelling calls")
struct CancellationTests {
  private let bench = CallBench()
  private let text = Request<String>.get("/text")

  @Test("A task cancelled before it makes its call sends nothing")
  func beforeStart() async throws {
    bench.stub.onAny(reply: .text("late"))
    let gate = Gate()
    let call = Task { [bench, text] in
      try? await gate.wait()
      return await bench.api.result(of: text)
    }
    call.cancel()
    let error = try #require(await call.value.error)
    #expect(error.code == .cancelled)
    #expect(error.cancellation == .caller)
    #expect(error.requestState == .notSent)
    #expect(bench.stub.exchanges.isEmpty)
    #expect(bench.isClean)
  }

  @Test("A call cancelled by an observer at its start sends nothing")
  func atStart() async throws {
    struct Canceller: CallObserver {
      func observe(_ event: TraceEvent, of call: CallEntry) {
        if event.kind == .started { call.cancel() }
      }
    }
    let bench = CallBench(observers: [Canceller()])
    bench.stub.onAny(reply: .text("late"))
    let error = try #require(await bench.api.result(of: text).error)
    #expect(error.cancellation == .requested)
    #expect(error.isCancellation)
    #expect(bench.stub.exchanges.isEmpty)
    #expect(bench.log.events == ["started", "cancel requested: by the app", "failed: cancelled"])
  }

  @Test("A cancelled call in flight ends as cancelled, and its exchange is cancelled")
  func inFlight() async throws {
    bench.stub.onAny(reply: .stalled)
    let call = Task { [bench, text] in await bench.api.result(of: text) }
    try await bench.stub.waitForExchanges(1)
    call.cancel()
    let error = try #require(await call.value.error)
    #expect(error.code == .cancelled)
    #expect(error.cancellation == .caller)
    #expect(error.requestState == .maybeSent)
    #expect(error.phase == .awaitingHead)
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(bench.isClean)
  }

  @Test("A call cancelled while content arrives ends as cancelled, and its exchange is cancelled")
  func inContent() async throws {
    bench.stub.onAny(reply: .pieces(["a", "b"]).stalled(after: 1))
    let call = Task { [bench, text] in await bench.api.result(of: text) }
    try await waitWhile(bench.api.calls.all.first?.received.bytes != 1)
    #expect(bench.api.calls.cancelAll() == 1)
    let error = try #require(await call.value.error)
    #expect(error.code == .cancelled)
    #expect(error.phase == .receiving)
    #expect(error.requestState == .responded)
    #expect(error.status == 200)
    #expect(bench.isClean)
  }

  @Test("Cancelling a call after its end has no effect")
  func afterTheEnd() async throws {
    bench.stub.onAny(reply: .text("done"))
    let entries = Log<CallEntry>()
    struct Keeper: CallObserver {
      let entries: Log<CallEntry>
      func observe(_ event: TraceEvent, of call: CallEntry) { entries.add(call) }
    }
    let kept = CallBench(observers: [Keeper(entries: entries)])
    kept.stub.onAny(reply: .text("done"))
    let call = Task { [text] in await kept.api.result(of: text) }
    #expect(try await call.value.get() == "done")
    call.cancel()
    let entry = try #require(entries.all.last)
    entry.cancel()
    #expect(kept.api.calls.cancelAll() == 0)
    #expect(entry.isEnded)
    #expect(kept.log.events.last == "succeeded")
    #expect(!kept.log.events.contains { $0.hasPrefix("cancel") })
  }

  @Test(
    "Cancelling calls through the registry affects no other call and does not cancel the caller's task",
    arguments: ["id", "serial", "tag", "endpoint", "rule", "all"])
  func throughTheRegistry(how: String) async throws {
    bench.stub.on(GetImage.self, reply: .stalled)
    let gate = Gate()
    bench.stub.on(.get, "/text", reply: .text("still here").waiting(for: gate))
    let call = Task { [bench] () -> (CallError?, Bool) in
      let request = GetImage().id("image", onDuplicate: .allow).tag("images", "weak")
      let error = await bench.api.result(of: request).error
      return (error, Task.isCancelled)
    }
    let other = Task { [bench, text] in await bench.api.result(of: text) }
    try await bench.stub.waitForExchanges(2)
    let calls = bench.api.calls
    let entry = try #require(calls.calls(id: "image").first)
    #expect(calls.calls(tag: "images").map(\.serial) == [entry.serial])
    #expect(calls.calls(endpoint: GetImage.self).map(\.serial) == [entry.serial])
    let count =
      switch how {
      case "id": calls.cancel(id: "image")
      case "serial": calls.all.filter { $0.serial == entry.serial }.map { $0.cancel() }.count
      case "tag": calls.cancel(tag: "images")
      case "endpoint": calls.cancel(endpoint: GetImage.self)
      case "rule": calls.cancel { $0.endpoint.template == "/images/{}" }
      default: calls.cancelAll()
      }
    #expect(count == (how == "all" ? 2 : 1))
    let (error, isTaskCancelled) = await call.value
    #expect(error?.cancellation == .requested)
    #expect(!isTaskCancelled)
    gate.open()
    #expect(await other.value.error?.code == (how == "all" ? .cancelled : nil))
    #expect(bench.isClean)
  }

  @Test("A call without a named id is found and cancelled by its number")
  func bySerial() async throws {
    bench.stub.onAny(reply: .stalled)
    let call = Task { [bench, text] in await bench.api.result(of: text) }
    try await bench.stub.waitForExchanges(1)
    let id = try #require(bench.api.calls.all.first?.id)
    #expect(!id.isNamed)
    #expect(bench.api.calls.cancel(id: id) == 1)
    #expect(await call.value.error?.code == .cancelled)
  }

  @Test("An id is free immediately after success, failure and cancellation")
  func idIsFree() async throws {
    bench.stub.on(.get, "/ok", reply: .text("ok"))
    bench.stub.on(.get, "/failure", reply: .status(500))
    bench.stub.on(.get, "/stalled", reply: .stalled)
    func request(_ path: RequestPath) -> Request<String> { .get(path).id("mine", onDuplicate: .refuse) }
    for _ in 0..<3 {
      #expect(await bench.api.result(of: request("/ok")).error == nil)
      #expect(await bench.api.result(of: request("/failure")).error?.code == .rejected)
      let call = Task { [bench] in await bench.api.result(of: request("/stalled")) }
      try await waitWhile(bench.stub.openExchanges.isEmpty)
      call.cancel()
      #expect(await call.value.error?.code == .cancelled)
      #expect(bench.api.calls.calls(id: "mine").isEmpty)
    }
    #expect(bench.isClean)
  }

  @Test("A call that is cancelled several times reports the first reason")
  func firstReason() async throws {
    bench.stub.onAny(reply: .stalled)
    let call = Task { [bench, text] in await bench.api.result(of: text) }
    try await bench.stub.waitForExchanges(1)
    bench.api.calls.cancelAll()
    call.cancel()
    bench.api.calls.cancelAll()
    #expect(await call.value.error?.cancellation == .requested)
    #expect(bench.log.events.count { $0.hasPrefix("cancel requested") } == 1)
  }

  @Test("A late response of the transport does not undo a cancellation")
  func lateAnswer() async throws {
    struct Deaf: Middleware {
      let gate: Gate
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        let gate = gate
        await Task { try? await gate.wait() }.value
        return .text("late")
      }
    }
    let gate = Gate()
    let bench = CallBench(middlewares: [(Deaf(gate: gate), .retry)])
    let call = Task { [text] in await bench.api.result(of: text) }
    try await gate.waitForArrivals(1)
    bench.api.calls.cancelAll()
    gate.open()
    #expect(await call.value.error?.cancellation == .requested)
    #expect(bench.log.events.last == "failed: cancelled")
  }
}
