import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transport that reports HTTP/2 with a number of streams for one host, and HTTP/1.1 for others.
private struct Multiplexing: Transport {
  let stub: StubTransport
  var host = "api.example.com"
  var streams: UInt32 = 10

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var response = try await stub.send(request, context: context)
    let isMultiplexed = request.head.authority == host
    response.protocolVersion = isMultiplexed ? .http2 : .http1
    if isMultiplexed { response.maximumConcurrentStreams = streams }
    return response
  }
}

@Suite("Scheduling over HTTP/2")
struct SchedulingProtocolTests {
  private let stub = StubTransport()
  private let gate = Gate()

  /// Makes one call, then 20 calls at a time, and returns the number of those that run.
  private func running(
    _ scheduler: Scheduler, after first: StubReply = .status(204), over transport: Multiplexing
  ) async throws -> Int {
    stub.onAny(reply: .status(204).waiting(for: gate))
    stub.on(.get, "/v1/first", reply: first)
    stub.on(.get, "/moved", reply: .status(204))
    var client = TestClient().scheduled(by: scheduler)
    let scheduling = client.customize
    client.customize = {
      scheduling(&$0)
      $0.insert(RedirectMiddleware(), .after(.redirects))
    }
    let api = client.over(transport)
    try await api.send(.step("first"))
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await api.send(.ping) } }
      // A call is either queued or running.
      try await waitWhile(scheduler.queuedCount + scheduler.runningCount < 20)
      let running = scheduler.runningCount
      gate.open()
      try await group.waitForAll()
      return running
    }
  }

  @Test("After a response over HTTP/2 as many calls run as the server accepts streams")
  func growth() async throws {
    #expect(try await running(Scheduler(.app), over: Multiplexing(stub: stub)) == 10)
  }

  @Test("A limit that the app set applies to HTTP/2 too")
  func ownLimit() async throws {
    let scheduler = Scheduler(ConcurrencyLimits(perOrigin: 5))
    #expect(try await running(scheduler, over: Multiplexing(stub: stub)) == 5)
  }

  @Test("A response of another origin after a redirect does not change the limit")
  func redirect() async throws {
    let redirect = StubReply.status(302, fields: ["Location": "https://other.example.com/moved"])
    let transport = Multiplexing(stub: stub, host: "other.example.com")
    #expect(try await running(Scheduler(.app), after: redirect, over: transport) == 5)
  }

  @Test("The head of a streamed response over HTTP/2 starts queued calls, while its content still arrives")
  func streamed() async throws {
    let opened = Gate()
    stub.onAny(reply: .stalled)
    stub.on(.get, "/v1/events", reply: .pieces(["a"]).stalled(after: 1).waiting(for: gate))
    let scheduler = Scheduler(.app)
    let api = TestClient().scheduled(by: scheduler).over(Multiplexing(stub: stub))
    let stream = Task {
      try await api.withResponse(to: Request<Data>.get("/events")) { response in
        _ = try await response.next()
        opened.open()
        _ = try await response.next()
      }
    }
    try await stub.waitForExchanges(1)
    let calls = (0..<9).map { _ in Task { try await api.send(.ping) } }
    try await scheduler.waitForWaiting(5)
    gate.open()
    try await opened.wait()
    try await stub.waitForExchanges(10)
    #expect(scheduler.runningCount == 9 && scheduler.queuedCount == 0)
    for task in calls { task.cancel() }
    stream.cancel()
    for task in calls { _ = await task.result }
    _ = await stream.result
  }

  @Test("A rejection that authentication has read keeps the version of HTTP", arguments: [true, false])
  func rejection(isShort: Bool) async throws {
    stub.onAny(reply: .status(401, content: isShort ? "no" : String(repeating: "x", count: 100_000)))
    var client = TestClient()
    client.environment.authentications = [.bearer("t0ken")]
    let api = client.over(Multiplexing(stub: stub))
    let response = try await api.response(to: Request<Content>.get("/ping").accepting(.any))
    #expect(response.status == 401)
    #expect(response.protocolVersion == .http2)
  }
}
