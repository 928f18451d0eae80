import Apus
import ApusTesting
import TestSupport
import Testing

@Suite("Call faults that must not occur")
struct CallFaultsTests {
  private let stub = StubTransport()
  private let gate = Gate()

  private func client() -> Client {
    Client(baseURL: "https://example.test", transport: stub) {
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
    }
  }

  @Test("The end of a cancelled call does not stop the new call's spinner")
  @MainActor
  func spinner() async throws {
    stub.on(.get, "/old", reply: .stalled)
    stub.on(.get, "/new", reply: Self.text.waiting(for: gate))
    let api = client()
    // The usual pattern: a call that ends without being superseded stops the spinner.
    var isSpinning = false
    func load(_ path: RequestPath) async {
      isSpinning = true
      do throws(CallError) {
        _ = try await api.send(Request<String>.get(path).latestWins("list"))
        isSpinning = false
      } catch {
        if !error.isCancellation { isSpinning = false }
      }
    }
    let old = Task { await load("/old") }
    try await stub.waitForExchanges(1)
    let new = Task { await load("/new") }
    await old.value
    #expect(isSpinning)
    gate.open()
    await new.value
    #expect(!isSpinning)
  }

  private static let text = StubReply.text("x")

  @Test("A call ends exactly once", arguments: ["/good", "/refused", "/broken", "/stalled"])
  func twoEndsOrNone(path: String) async throws {
    stub.on(.get, "/good", reply: Self.text)
    stub.on(.get, "/refused", reply: .status(500))
    stub.on(.get, "/broken", reply: .failure(TransportError(.connectionLost, requestState: .maybeSent)))
    stub.on(.get, "/stalled", reply: .stalled)
    let ends = Log<TraceEvent.Kind>()
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.retry = .none
      $0.observers = [Ends(ends: ends)]
    }
    let call = Task { await failure { try await api.send(Request<String>.get(RequestPath(stringLiteral: path))) } }
    if path == "/stalled" {
      try await stub.waitForExchanges(1)
      api.calls.cancelAll()
      call.cancel()
      api.calls.cancelAll()
    }
    _ = await call.value
    call.cancel()
    #expect(ends.all.count == 1)
  }

  private struct Ends: CallObserver {
    let ends: Log<TraceEvent.Kind>

    func observe(_ event: TraceEvent, of call: CallEntry) {
      switch event.kind {
      case .succeeded, .failed: ends.add(event.kind)
      default: break
      }
    }
  }

  @Test("The first of two running calls can be cancelled")
  func uncancellable() async throws {
    stub.onAny(reply: .stalled)
    let api = client()
    let first = Task { await failure { try await api.send(.get("/1").id("first", onDuplicate: .allow)) } }
    try await stub.waitForExchanges(1)
    let second = Task { await failure { try await api.send(.get("/2").id("second", onDuplicate: .allow)) } }
    try await stub.waitForExchanges(2)
    #expect(api.calls.cancel(id: "first") == 1)
    #expect(await first.value?.code == .cancelled)
    #expect(api.calls.count == 1)
    second.cancel()
    #expect(await second.value?.code == .cancelled)
  }

  @Test("A cancelled call is unregistered, and its id can be reused")
  func staysRegistered() async throws {
    stub.on(.get, "/a", replies: [.stalled, Self.text])
    let api = client()
    let request = Request<String>.get("/a").id("only", onDuplicate: .refuse)
    let call = Task { await failure { try await api.send(request) } }
    try await stub.waitForExchanges(1)
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(api.calls.isEmpty)
    #expect(try await api.send(request) == "x")
  }

  @Test(
    "Every caller of a call with duplicates gets a result",
    arguments: [
      (DuplicatePolicy.allow, ["x": 20]), (.refuse, ["x": 1, "refused": 19]),
      (.cancelPrevious, ["x": 1, "cancelled": 19]),
      (.coalesce, ["x": 20]),
    ])
  func unansweredDuplicate(policy: DuplicatePolicy, expected: [String: Int]) async throws {
    stub.onAny(reply: Self.text.waiting(for: gate))
    let api = client()
    let request = Request<String>.get("/a").id("a", onDuplicate: policy)
    let outcomes = Log<String>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        group.addTask {
          do throws(CallError) {
            outcomes.add(try await api.send(request))
          } catch {
            outcomes.add(error.code.rawValue)
          }
        }
        // Waits until the first call runs before its duplicates start.
        if index == 0 { try await stub.waitForExchanges(1) }
      }
      // The server responds only after all calls have arrived.
      try await waitWhile(api.calls.count + outcomes.all.count < 20)
      // A registered call may not have joined yet.
      try await waitWhile(policy == .coalesce && api.calls.all.count(where: \.hasJoined) < 19)
      gate.open()
      try await group.waitForAll()
    }
    #expect(outcomes.all.reduce(into: [:]) { $0[$1, default: 0] += 1 } == expected)
    #expect(api.calls.isEmpty)
    if policy == .coalesce { #expect(stub.exchanges.count == 1) }
  }

  @Test("Calls and cancellations from many threads do not corrupt the registry")
  func unsynchronizedSet() async throws {
    stub.onAny(reply: Self.text)
    let api = client()
    let ended = Counts()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<500 {
        group.addTask {
          let error = await failure {
            try await api.send(Request<String>.get("/a").id(CallID("\(index % 7)"), onDuplicate: .cancelPrevious))
          }
          if error == nil || error?.isCancellation == true { ended.add(UInt64(index)) }
        }
        group.addTask {
          _ = api.calls.all.map(\.id)
          if index % 5 == 0 { api.calls.cancel(id: CallID("\(index % 7)")) }
        }
      }
    }
    #expect(ended.all.count == 500)
    #expect(api.calls.isEmpty)
  }

  @Test("Objects that outlive their client remain usable and do not retain the client")
  func danglingOwner() async throws {
    weak var transport: StubTransport?
    var error: CallError?
    do {
      let stub = StubTransport()
      stub.onAny(reply: .json(#"{"message":"Gone."}"#, status: 410))
      transport = stub
      error = await failure { try await Client(baseURL: "https://example.test", transport: stub).send(.ping) }
    }
    // The error is complete although the client is released.
    #expect(error?.message == "Gone.")
    #expect(error.map { "\($0.trace)" }?.contains("410") == true)
    error = nil
    #expect(transport == nil)
  }

  @Test("A call whose client is released while it runs ends normally")
  func clientGoesAway() async throws {
    stub.onAny(reply: Self.text.waiting(for: gate))
    weak var calls: CallRegistry?
    func begin() -> Task<String, any Error> {
      let api = client()
      calls = api.calls
      return Task { try await api.send(Request<String>.get("/a")) }
    }
    let call = begin()
    try await stub.waitForExchanges(1)
    #expect(calls?.count == 1)
    gate.open()
    #expect(try await call.value == "x")
    await #expect(gone { calls })
  }

  /// Waits until an object is released, because a task releases its context shortly after its value. Returns whether
  /// the object was released.
  private func gone(_ object: () -> AnyObject?) async -> Bool {
    try? await waitWhile(object() != nil)
    return object() == nil
  }

  @Test("A call that is cancelled before it starts is not sent")
  func runsAnyway() async throws {
    stub.onAny(reply: Self.text)
    let api = client()
    for _ in 0..<50 {
      let call = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await failure { try await api.send(Request<String>.get("/a")) }
      }
      #expect(await call.value?.code == .cancelled)
    }
    #expect(stub.exchanges.isEmpty)
  }
}
