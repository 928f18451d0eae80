import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCore

private struct Item: Codable, Sendable, Hashable { var id: Int }

extension Endpoint where Self == Request<LineStream> {
  fileprivate static var lines: Self { .get("/lines") }
}

/// A value that records the thread on which it was decoded.
private struct DecodingPlace: Decodable, Sendable {
  let isMainThread: Bool

  init(from decoder: any Decoder) throws {
    isMainThread = Thread.isMainThread
  }
}

/// A source that counts the pieces that its reader has requested.
private final class CountingSource: ContentSource {
  let requested = Mutex(0)
  let isCancelled = Gate()

  func next() async throws -> Data? {
    requested.withLock { count in
      count += 1
      return Data("a\nb\n".utf8)
    }
  }

  func cancel() { isCancelled.open() }
}

@Suite("Live streams")
struct LiveStreamTests {
  private let bench = StreamBench()

  @Test("Elements of NDJSON, a JSON text sequence and lines are returned while the response arrives")
  func kinds() async {
    let lines = ["{\"id\":1}\n{\"i", "d\":2}\n{\"id\":3}"]
    bench.stub.onAny(reply: .pieces(lines, fields: [.contentType: "application/x-ndjson"]))
    let items = [Item(id: 1), Item(id: 2), Item(id: 3)]
    #expect(await bench.api.stream(Request<JSONStream<Item>>.get("/")).all().elements == items)
    #expect(await bench.api.stream(.lines).all().elements == ["{\"id\":1}", "{\"id\":2}", "{\"id\":3}"])
    let sequence = StreamBench()
    sequence.stub.onAny(
      reply: .pieces(["\u{1E}{\"id\":1}\n\u{1E}", "{\"id\":2}\n"], fields: [.contentType: "application/json-seq"]))
    #expect(await sequence.api.stream(Request<JSONStream<Item>>.get("/")).all().elements == Array(items.prefix(2)))
    #expect(bench.isClean && sequence.isClean)
  }

  @Test("A stream element is returned as soon as it is complete, before the next piece arrives")
  func live() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .pieces(["a\nb", "c\n"], gate: gate))
    var lines = bench.api.stream(.lines).makeAsyncIterator()
    gate.release()
    #expect(try await lines.next() == "a")
    #expect(bench.stub.openExchanges.count == 1)
    gate.release()
    #expect(try await lines.next() == "bc")
    #expect(try await lines.next() == nil)
    #expect(try await lines.next() == nil)
  }

  @Test("A live stream sends a request when a loop requests the first element, one request for each loop")
  func lazy() async {
    bench.stub.onAny(reply: .text("a\n"))
    let lines = bench.api.stream(.lines)
    _ = lines.makeAsyncIterator()
    #expect(bench.stub.exchanges.isEmpty)
    _ = await lines.all()
    _ = await lines.all()
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("Leaving the loop over a stream cancels the exchange and ends the call successfully")
  func leaving() async throws {
    bench.stub.onAny(reply: .pieces(["a\n", "b\n"]).stalled(after: 1))
    for try await line in bench.api.stream(.lines) {
      #expect(line == "a")
      #expect(bench.api.calls.count == 1)
      #expect(bench.api.calls.all.first?.phase == .receiving)
      break
    }
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(bench.log.events.last == "succeeded")
    #expect(bench.isClean)
    #expect(bench.clock.sleepers == 0)
  }

  @Test("Leaving the loop over an event stream removes its timer")
  func noTimer() async throws {
    bench.reply(.events("data: a\n\n", "x").stalled(after: 1))
    for try await _ in bench.api.stream(.events) { break }
    #expect(bench.isClean)
  }

  @Test("Cancelling the task while it waits for an element ends the stream with the code cancelled")
  func cancelledTask() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .pieces(["a\n", "b\n"], gate: gate))
    let reading = Task { [bench] in await bench.api.stream(.lines).all() }
    gate.release()
    try await gate.waitForArrivals(2)
    reading.cancel()
    let (elements, error) = await reading.value
    #expect(elements == ["a"])
    #expect(error?.code == .cancelled)
    #expect(error?.cancellation == .caller)
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(bench.isClean)
  }

  @Test("The stream of a cancelled or superseded call returns no further element, even if elements have arrived")
  func cancelledCall() async throws {
    bench.stub.onAny(reply: .text("a\nb\nc\n"))
    var lines = bench.api.stream(.lines).makeAsyncIterator()
    #expect(try await lines.next() == "a")
    bench.api.calls.cancelAll()
    let error = await lines.failure()
    #expect(error?.cancellation == .requested)
    #expect(try await lines.next() == nil)
    #expect(bench.isClean)
  }

  @Test("A task that is cancelled before the loop over a stream sends no request")
  func cancelledBefore() async {
    bench.stub.onAny(reply: .text("a\n"))
    let reading = Task { [bench] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await bench.api.stream(.lines).all()
    }
    #expect(await reading.value.error?.code == .cancelled)
    #expect(bench.stub.exchanges.isEmpty)
  }

  @Test("A stream requests one piece at a time, after all elements of the previous piece")
  func backpressure() async throws {
    let source = CountingSource()
    let transport = SourceTransport(source: source)
    let api = Client(environment: Environment(baseURL: "https://x.test"), transport: transport)
    var lines = api.stream(.lines).makeAsyncIterator()
    for number in 1...6 {
      #expect(try await lines.next() == (number % 2 == 1 ? "a" : "b"))
      #expect(source.requested.withLock { $0 } == (number + 1) / 2)
    }
    #expect(!source.isCancelled.isOpen)
    lines = api.stream(.lines).makeAsyncIterator()
    #expect(source.isCancelled.isOpen)
  }

  @Test("An interrupted stream throws after the complete elements; a partial line is discarded")
  func brokenOff() async {
    bench.stub.onAny(reply: .pieces(["a\nb\nc", "d\n"]).failing(after: 1))
    let (elements, error) = await bench.api.stream(.lines).all()
    #expect(elements == ["a", "b"])
    #expect(error?.code == .connectionLost)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("The deadline of an endpoint ends its stream")
  func deadline() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .pieces(["a\n"], gate: gate))
    let lines = Request<LineStream>.get("/lines").timeout(.seconds(1))
    let reading = Task { [bench] in await bench.api.stream(lines).all() }
    try await gate.waitForArrivals(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    let error = await reading.value.error
    #expect(error?.code == .timeout)
    #expect(error?.cancellation == .deadline(.receiving))
    #expect(bench.isClean)
  }

  @Test("The stream of a rejected call throws an error with the server's message")
  func rejected() async {
    bench.stub.onAny(reply: .json("{\"message\":\"no\"}", status: 403))
    let error = await bench.api.stream(.lines).all().error
    #expect(error?.code == .rejected)
    #expect(error?.rejection?.message == "no")
    #expect(bench.isClean)
  }

  @Test("A stream reads content in memory, for example of a stored response, like arriving content")
  func inMemory() async {
    let stored = Doing { _, _, _ in .text("a\nb\n") }
    let bench = CallBench(middlewares: [(stored, .cache)])
    #expect(await bench.api.stream(.lines).all().elements == ["a", "b"])
  }

  @Test("The loop over a stream runs on the caller's actor")
  @MainActor
  func isolation() async throws {
    bench.stub.onAny(reply: .pieces(["a\n", "b\n"]))
    var count = 0
    for try await _ in bench.api.stream(.lines) {
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 2)
  }

  @Test("Stream elements are decoded outside the caller's actor")
  @MainActor
  func decoding() async throws {
    bench.stub.onAny(reply: .text("1\n2\n"))
    var count = 0
    for try await place in bench.api.stream(Request<JSONStream<DecodingPlace>>.get("/")) {
      #expect(!place.isMainThread)
      count += 1
    }
    #expect(count == 2)
  }

  @Test("A stream decodes content in memory in parts, in order")
  func parts() throws {
    let lines = (0..<250).map { "\($0)" }
    let content = Content(data: Data(lines.joined(separator: "\n").utf8))
    var elements = StreamElements<String>(LineElements(StreamContext(content, StreamOptions(for: .lines))))
    elements.feed(content.data)
    var (counts, all): ([Int], [String]) = ([], [])
    func takeAll() throws {
      var count = 0
      while let element = try elements.next() {
        all.append(element)
        count += 1
      }
      counts.append(count)
    }
    while elements.parse() == .elements { try takeAll() }
    elements.feed(nil)
    while elements.parse() == .elements { try takeAll() }
    #expect(elements.parse() == .end)
    #expect(all == lines)
    #expect(counts == [100, 100, 49, 1])
  }

  @Test("A stream's error has the trace of the call in whose response the error occurred")
  func trace() async {
    bench.reply(.events("data: a\n\n"), .status(404))
    let error = await bench.api.stream(.events).all().error
    #expect(error?.status == 404)
    #expect(error?.trace.events.contains { $0.kind == .headArrived(status: 404) } == true)
    #expect(error?.trace.events.contains { $0.kind == .headArrived(status: 200) } == false)
  }

  @Test("The trace of a later connection of a stream has the connection's number")
  func connectionNumber() async {
    bench.reply(.events("data: a\n\n"), .events("data: b\n\n"))
    _ = await bench.api.stream(.events).all()
    let notes = bench.log.events.filter { $0.hasPrefix("reconnected") }
    #expect(notes == [2, 3].map { "reconnected stream, number of its connection: \($0)" })
  }
}

/// A transport that responds with one content source.
private struct SourceTransport: Transport {
  let source: CountingSource

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok), content: ResponseContent(source: source))
  }
}
