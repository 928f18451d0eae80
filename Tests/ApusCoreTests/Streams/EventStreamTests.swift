import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Event streams")
struct EventStreamTests {
  private let bench = StreamBench()

  @Test("An event stream returns events in order, across responses that end, until 204")
  func order() async {
    bench.reply(.events("data: a\n\nda", "ta: b\n\n"), .events("data: c\n\n"))
    let (elements, error) = await bench.api.stream(.events).all()
    #expect(elements == ["a", "b", "c"])
    #expect(error == nil)
    #expect(bench.stub.exchanges.map(\.status) == [200, 200, 204])
    #expect(bench.stub.exchanges.map { $0.fields[.accept] } == Array(repeating: "text/event-stream", count: 3))
    #expect(bench.isClean)
  }

  @Test("An event stream bypasses caches unless the endpoint specifies Cache-Control")
  func noCache() async {
    bench.reply(.events("data: a\n\n"))
    _ = await bench.api.stream(.events).all()
    #expect(bench.stub.exchanges.map { $0.fields[.cacheControl] } == ["no-cache", "no-cache"])
    bench.reply(.events("data: a\n\n"))
    _ = await bench.api.stream(Request<EventStream<String>>.events.field("cache-control", "max-age=9")).all()
    #expect(bench.stub.exchanges.dropFirst(2).map { $0.fields[.cacheControl] } == ["max-age=9", "max-age=9"])
  }

  @Test("An event stream whose first response is 204 is empty")
  func noContent() async {
    bench.reply()
    let (elements, error) = await bench.api.stream(.events).all()
    #expect(elements.isEmpty && error == nil)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("The last event ID is sent when the stream reconnects, unless it was reset")
  func lastEventID() async {
    bench.reply(
      .events("data: a\n\n"), .events("id: 1\ndata: b\n\ndata: c\n\nid: 2\ndata: lost\n"), .events(": nothing\n"),
      .events("id\ndata: d\n\n"))
    let (elements, _) = await bench.api.stream(.events).all()
    #expect(elements == ["a", "b", "c", "d"])
    #expect(bench.lastEventIDs == [nil, nil, "1", "1", nil])
  }

  @Test("The first request sends the last event ID of the options instead of the endpoint's")
  func firstID() async {
    bench.reply(.events("data: a\n\n"))
    let endpoint = Request<EventStream<String>>.events.field("last-event-id", "3").streaming { $0.lastEventID = "7" }
    _ = await bench.api.stream(endpoint).all()
    #expect(bench.lastEventIDs == ["7", "7"])
  }

  @Test("White space around an event ID is not sent")
  func paddedID() async {
    bench.reply(.events("id:  7 \ndata: a\n\n"))
    #expect(await bench.api.stream(.events).all().error == nil)
    #expect(bench.lastEventIDs == [nil, "7"])
  }

  @Test("An interrupted event stream is continued from the last complete event")
  func brokenOff() async {
    bench.reply(.events("id: 1\ndata: a\n\nid: 2\ndata: b\n", "\n").failing(after: 1), .events("id: 2\ndata: b\n\n"))
    let (elements, error) = await bench.api.stream(.events).all()
    #expect(elements == ["a", "b"])
    #expect(error == nil)
    #expect(bench.lastEventIDs == [nil, "1", "2"])
  }

  @Test(
    "A first response that is not an event stream is an error",
    arguments: [
      (StubReply.json("{}"), CallError.Code.decoding, 200), (.pieces(["data: a\n\n"]), .decoding, 200),
      (.bytes(Data(), type: "text/event-stream", status: 202), .decoding, 202), (.status(404), .rejected, 404),
      (.status(503), .rejected, 503), (.status(401), .rejected, 401),
    ])
  func firstResponse(reply: StubReply, code: CallError.Code, status: Int) async {
    bench.reply(reply)
    let (elements, error) = await bench.api.stream(.events).all()
    #expect(elements.isEmpty)
    #expect(error?.code == code)
    #expect(error?.status == status)
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.isClean)
  }

  @Test(
    "A permanent error of a later response ends the stream; a temporary error does not",
    arguments: [
      (StubReply.json("{}"), CallError.Code.decoding), (.status(401), .rejected), (.status(403), .rejected),
      (.status(404), .rejected), (.status(410), .rejected), (.status(501), .rejected),
      (.failure(TransportError(.tls, requestState: .notSent)), .tls),
      (.status(429), nil), (.status(500), nil), (.status(502), nil), (.status(503), nil), (.status(504), nil),
      (.failure(TransportError(.connectionLost, requestState: .maybeSent)), nil),
      (.failure(TransportError(.offline, requestState: .notSent)), nil),
      (.failure(TransportError(.timeout, in: .awaitingHead, requestState: .maybeSent)), nil),
    ] as [(StubReply, CallError.Code?)])
  func laterResponse(reply: StubReply, code: CallError.Code?) async {
    bench.reply(.events("data: a\n\n"), reply, .events("data: b\n\n"))
    let (elements, error) = await bench.api.stream(.events).all()
    #expect(error?.code == code)
    #expect(elements == (code == nil ? ["a", "b"] : ["a"]))
    #expect(bench.isClean)
  }

  @Test("Without reconnection a stream ends with its response, or with the error that interrupts it")
  func single() async {
    bench.reply(.events("data: a\n\n"))
    let endpoint = Request<EventStream<String>>.events.streaming { $0.reconnects = false }
    #expect(await bench.api.stream(endpoint).all() == (["a"], nil))
    bench.reply(.events("id: 1\ndata: a\n\n", "data: b\n\n").failing(after: 1))
    let (elements, error) = await bench.api.stream(endpoint).all()
    #expect(elements == ["a"])
    #expect(error?.code == .connectionLost)
    #expect(error?.phase == .receiving)
    #expect(error?.requestState == .responded)
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("A POST for an event stream is sent once, unless the request is idempotent or has a last event ID")
  func post() async {
    let once = Request<EventStream<String>>.post("/chat", content: .text("hi"))
    bench.stub.on(.post, "/chat", replies: [.events("data: a\n\n"), .events("data: b\n\n"), .status(204)])
    #expect(await bench.api.stream(once).all().elements == ["a"])
    #expect(bench.stub.exchanges.map(\.text) == ["hi"])
    #expect(await bench.api.stream(once.setting(IdempotenceKey.self, true)).all().elements == ["b"])
    #expect(bench.stub.exchanges.count == 3)
    bench.stub.on(.post, "/chat", replies: [.events("id: 1\ndata: a\n\n"), .status(204)])
    #expect(await bench.api.stream(once).all().elements == ["a"])
    #expect(bench.stub.exchanges.count == 5)
    #expect(bench.lastEventIDs.last == "1")
  }

  @Test("An event stream by POST that is interrupted without a last event ID throws")
  func brokenPost() async {
    bench.stub.on(.post, "/chat", reply: .events("data: a\n\n", "data: b\n\n").failing(after: 1))
    let (elements, error) = await bench.api.stream(Request<EventStream<String>>.post("/chat")).all()
    #expect(elements == ["a"])
    #expect(error?.code == .connectionLost)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("An event stream by QUERY, a safe method, reconnects; an endpoint declared not idempotent does not")
  func query() async {
    let query = Request<EventStream<String>>.query("/events", content: .text("all"))
    bench.stub.on(.query, "/events", replies: [.events("data: a\n\n"), .status(204)])
    _ = await bench.api.stream(query).all()
    #expect(bench.stub.exchanges.map(\.text) == ["all", "all"])
    _ = await bench.api.stream(query.setting(IdempotenceKey.self, false)).all()
    #expect(bench.stub.exchanges.count == 3)
  }

  @Test("Request content that can be sent only once prevents a reconnection")
  func oneTimeContent() async {
    let content = ContentStream(isReplayable: false) { { nil } }
    let query = Request<EventStream<String>>.query("/events", content: .stream(content, "text/plain"))
    bench.stub.on(.query, "/events", reply: .events("id: 1\ndata: a\n\n"))
    #expect(await bench.api.stream(query).all() == (["a"], nil))
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("The end marker ends an event stream and discards the rest of the response")
  func endMarker() async {
    bench.reply(.events("data: a\n\ndata: [DONE]\n\ndata: b\n\n", "data: c\n\n").stalled(after: 1))
    let endpoint = Request<EventStream<String>>.events.streaming { $0.endMarker = "[DONE]" }
    #expect(await bench.api.stream(endpoint).all() == (["a"], nil))
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(bench.isClean)
  }

  @Test("An event that cannot be decoded ends the stream with an error that has the call's trace")
  func undecodable() async throws {
    bench.reply(.events("data: 1\n\ndata: x\n\ndata: 3\n\n"))
    let numbers = Request<EventStream<Int>>.get("/events")
    let (elements, error) = await bench.api.stream(numbers).all()
    #expect(elements == [1])
    #expect(error?.code == .decoding)
    #expect(error?.detail.hasPrefix("element 1: ") == true)
    #expect(error?.trace.events.last?.kind == .failed(.decoding))
    #expect(error?.endpoint.template == "/events")
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.isClean)
  }

  @Test("A handler is notified of events that cannot be decoded, and the stream continues")
  func skipping() async {
    bench.reply(.events("data: 1\n\ndata: x\n\ndata: 3\n\n"))
    let skipped = Log<Int>()
    let numbers = Request<EventStream<Int>>.get("/events").streaming { options in
      options.onUndecodable = { skipped.add($0.index) }
    }
    #expect(await bench.api.stream(numbers).all() == ([1, 3], nil))
    #expect(skipped.all == [1])
  }

  @Test("An event above the limit ends the stream with contentTooLarge, after the previous events")
  func tooLarge() async {
    bench.reply(.events("data: a\n\ndata: 12345678901234567890\n\n"))
    let (elements, error) = await bench.api.stream(
      Request<EventStream<String>>.events.streaming { $0.maximumElementSize = 20 }
    ).all()
    #expect(elements == ["a"])
    #expect(error?.code == .contentTooLarge)
    #expect(error?.detail == "a line exceeds 20 bytes; change the limit with .streaming(_:)")
  }

  @Test("send returns all events of a response")
  func sending() async throws {
    bench.reply(.events("data: a\n\n", "data: b\n\ndata: c"))
    #expect(try await bench.api.send(.events).elements == ["a", "b"])
    #expect(try await bench.api.send(.events).elements == [])
    bench.reply(.json("{}"))
    #expect(await failure { try await bench.api.send(.events) }?.code == .decoding)
    bench.reply(.events("data: 12345678901234567890\n\n"))
    let error = await failure {
      try await bench.api.send(Request<EventStream<String>>.events.streaming { $0.maximumElementSize = 20 })
    }
    #expect(error?.code == .contentTooLarge)
  }
}

private func == (lhs: (elements: [String], error: CallError?), rhs: ([String], CallError.Code?)) -> Bool {
  lhs.elements == rhs.0 && lhs.error?.code == rhs.1
}

private func == (lhs: (elements: [Int], error: CallError?), rhs: ([Int], CallError.Code?)) -> Bool {
  lhs.elements == rhs.0 && lhs.error?.code == rhs.1
}
