import ApusCore
import ApusMiddleware
import ApusTestServer
import Foundation
import HTTPTypes
import LoopbackConformance
import Synchronization
import Testing

@testable import ApusNIO

@Suite("Responses that begin before the request ends")
struct EarlyResponseTests {
  /// A length that exceeds the socket buffers of both systems.
  private static let length = 30_000_000

  private struct Bench: Sendable {
    let server: TestServer
    let client: Client
    let observer: Observer
  }

  private func with(
    stall: Duration? = nil, readsContent: Bool = true,
    reply: @escaping @Sendable (RecordedRequest, Observer) async -> Reply,
    body: (Bench) async throws -> Void
  ) async throws {
    let observer = Observer()
    var options = TestServer.Options(contentLimit: 1000, repliesAt: .head)
    options.stopsReadingAtHead = { !readsContent && $0.method == "PUT" }
    try await TestServer.with(options: options) {
      await reply($0, observer)
    } body: { server in
      try await NIOTransport.with {
        $0.stallTimeout = stall
      } body: { transport in
        var settings = ClientSettings()
        settings.observers = [observer]
        let client = Client(
          environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: [.retry: RetryMiddleware()],
          transport: transport, settings: settings)
        try await body(Bench(server: server, client: client, observer: observer))
      }
    }
  }

  private static func upload(_ length: Int = length) -> Request<Content> {
    message(.put).content(.bytes(Data(count: length)))
  }

  /// Returns content whose second half is produced when a gate opens.
  private static func halves(_ mayContinue: Gate, made: @escaping @Sendable () -> Void = {}) -> RequestContent {
    .stream(
      ContentStream(isReplayable: false) {
        let number = Mutex(0)
        return {
          let number = number.withLock { number in
            number += 1
            return number
          }
          if number == 2 {
            try await mayContinue.wait()
            made()
          }
          return number > 2 ? nil : Data(count: 100_000)
        }
      })
  }

  /// Returns a response after whose head the server closes the connection, once the client has received the head.
  private static func cutting(_ observer: Observer, _ status: Int = 201) -> Reply {
    Reply.text("stored", status: status)
      .inserting([.wait(observer.headArrived), .close], at: .end)
  }

  private func requireIncomplete(_ error: CallError?, _ size: String, content: String? = "stored") throws {
    let error = try #require(error)
    #expect(error.code == .connectionLost && error.requestState == .responded && error.status == 201)
    #expect(error.content.map { String(decoding: $0.data, as: UTF8.self) } == content)
    #expect(error.detail.hasPrefix("the server responded 201 after "))
    #expect(error.detail.contains(size), "\(error.detail)")
    #expect(error.description.contains(" was not sent completely: the server responded 201"), "\(error)")
    #expect(error.trace.failedAttempts.map(\.decision) == [.giveUp(.notTemporary)])
    #expect(!error.trace.events.contains { $0.kind == .requestSent })
    #expect(error.trace.description.contains("response before the end of the request, content bytes sent: "))
  }

  // MARK: Success

  @Test(
    "Content is sent to its end after an early success, even with Connection: close", arguments: [200, 201, 204],
    [[:], ["Connection": "close"]] as [FieldLines])
  func continues(status: Int, fields: FieldLines) async throws {
    let received = Gate()
    try await with { _, _ in
      Reply.status(status, fields: fields).inserting([.wait(received)], at: .end)
    } body: { bench in
      let response = try await bench.client.response(to: Self.upload())
      let events = response.trace.events
      #expect(response.status == status)
      try #require(events.contains { $0.kind == .requestSent })
      let exchange = try await bench.server.exchange { $0.isComplete }
      received.open()
      #expect(exchange.contentLength == Self.length)
      #expect(bench.observer.reports.last == Int64(Self.length))
      #expect(events.last { $0.kind != .succeeded && $0.kind != .decoded }?.kind == .contentArrived(length: 0))
      // The server may respond a second time, so the connection is not reused.
      if fields.lines.isEmpty { #expect(try await bench.client.response(to: Self.upload(10)).status == status) }
      #expect(bench.server.exchanges.map(\.connection) == (fields.lines.isEmpty ? [0, 1] : [0]))
    }
  }

  @Test("A call fails if the connection ends before all content was sent, and is not retried")
  func cutOff() async throws {
    try await with(readsContent: false) {
      Self.cutting($1)
    } body: { bench in
      try requireIncomplete(await failure { try await bench.client.send(Self.upload()) }, " of 30 MB")
      #expect(bench.server.exchanges.count == 1)
      #expect((bench.observer.reports.last ?? 0) < Int64(Self.length))
    }
  }

  @Test(
    "If the connection ends before all content was sent, a streamed call gets the head, and its content ends with the error"
  )
  func cutOffStream() async throws {
    try await with(readsContent: false) {
      Self.cutting($1)
    } body: { bench in
      let text = Mutex("")
      let error = await failure {
        try await bench.client.withResponse(to: Self.upload()) { response in
          while let piece = try await response.next() {
            text.withLock { $0 += String(decoding: piece, as: UTF8.self) }
          }
        }
      }
      #expect(text.withLock { $0 } == "stored")
      #expect(error?.code == .connectionLost && error?.requestState == .responded && error?.status == 201)
      #expect(error?.detail.hasPrefix("the server responded 201 after ") == true)
    }
  }

  @Test("The error for incomplete chunked content contains the number of sent bytes")
  func chunked() async throws {
    let stream = ContentStream(isReplayable: true) { { Data(count: 1 << 20) } }
    try await with(readsContent: false) {
      Self.cutting($1)
    } body: { bench in
      let error = await failure { try await bench.client.send(message(.put).content(.stream(stream))) }
      try requireIncomplete(error, " of content")
    }
  }

  @Test("A call fails if the connection ends before the response is complete, and is not retried")
  func cutOffResponse() async throws {
    try await with(readsContent: false) {
      Reply(steps: [
        .head(201, fields: ["Content-Length": "100"]), .content(Array("stored".utf8)),
        .wait($1.headArrived), .close,
      ])
    } body: { bench in
      try requireIncomplete(await failure { try await bench.client.send(Self.upload()) }, " of 30 MB")
      #expect(bench.server.exchanges.count == 1)
    }
  }

  @Test("A response that ends with the connection fails the call, because the request content was not sent completely")
  func untilClose() async throws {
    try await with(readsContent: false) { _, observer in
      Reply.unframed(Array("stored".utf8), status: 201)
        .inserting([.wait(observer.headArrived), .close], at: .end)
    } body: { bench in
      try requireIncomplete(await failure { try await bench.client.send(Self.upload()) }, " of 30 MB")
    }
  }

  @Test("A call fails if no byte of its content leaves within the stall timeout")
  func stalled() async throws {
    let never = Gate()
    // The limit leaves enough time for the head to arrive on a busy machine.
    try await with(stall: .seconds(3), readsContent: false) { _, _ in
      Reply.text("stored", status: 201).inserting([.wait(never)], at: .end)
    } body: { bench in
      try requireIncomplete(await failure { try await bench.client.send(Self.upload()) }, " of 30 MB")
      never.open()
    }
  }

  @Test("A call fails if its content is not produced within the stall timeout after the response")
  func notMade() async throws {
    let never = Gate()
    try await with(stall: .milliseconds(300)) { _, _ in
      .text("stored", status: 201)
    } body: { bench in
      let error = await failure { try await bench.client.send(message(.put).content(Self.halves(never))) }
      try requireIncomplete(error, "100 kB of content")
    }
  }

  @Test("Cancelling a call while its content is still being sent closes the connection")
  func cancelled() async throws {
    let never = Gate()
    try await with { _, _ in
      Reply.text("stored", status: 201).inserting([.wait(never)], at: .end)
    } body: { bench in
      let call = Task {
        await failure { try await bench.client.send(message(.put).content(Self.halves(never))) }
      }
      try await bench.observer.headArrived.wait()
      call.cancel()
      #expect(await call.value?.code == .cancelled)
      try await bench.server.waitForClientClose(of: try await bench.server.exchange())
    }
  }

  @Test("The content of an early response ends only when the request is complete")
  func consumed() async throws {
    let mayContinue = Gate()
    let log = Mutex<[String]>([])
    try await with { _, _ in
      .text("stored", status: 201)
    } body: { bench in
      let request = message(.put).content(Self.halves(mayContinue) { log.withLock { $0.append("made") } })
      try await bench.client.withResponse(to: request) { response in
        let first = try await response.next()
        #expect(first == Data("stored".utf8))
        mayContinue.open()
        let end = try await response.next()
        #expect(end == nil)
        log.withLock { $0.append("end") }
      }
      #expect(log.withLock { $0 } == ["made", "end"])
      let exchange = try await bench.server.exchange { $0.isComplete }
      #expect(exchange.contentLength == 200_000)
      #expect(try await bench.client.send(message()).string == "stored")
      #expect(bench.server.exchanges.map(\.connection) == [0, 1])
    }
  }

  @Test("The request continues while the response's reader is slow")
  func slowReader() async throws {
    let length = 4_000_000
    try await with { _, _ in
      .generated(length, status: 201)
    } body: { bench in
      try await bench.client.withResponse(to: Self.upload()) { response in
        var count = try await response.next()?.count ?? 0
        let exchange = try await bench.server.exchange { $0.isComplete }
        #expect(exchange.contentLength == Self.length)
        while let piece = try await response.next() { count += piece.count }
        #expect(count == length)
      }
    }
  }

  @Test("A request on a reused connection is not resent after an early success")
  func reused() async throws {
    try await with(readsContent: false) { request, observer in
      request.number == 0 ? .text("first") : Self.cutting(observer)
    } body: { bench in
      #expect(try await bench.client.send(message()).string == "first")
      try requireIncomplete(await failure { try await bench.client.send(Self.upload()) }, " of 30 MB")
      #expect(bench.server.exchanges.map(\.connection) == [0, 0])
    }
  }

  // MARK: Expect: 100-continue

  @Test("A success before 100 (Continue) fails the call, because no content was sent")
  func expecting() async throws {
    try await with { _, _ in
      .text("stored", status: 201)
    } body: { bench in
      let error = await failure { try await bench.client.send(Self.upload(300_000).expectsContinue()) }
      try requireIncomplete(error, "the server responded 201 after 0 of 300 kB")
      #expect(bench.server.exchanges.map(\.contentLength) == [0])
      let empty = try await bench.client.response(to: message(.put).expectsContinue())
      #expect(empty.status == 201)
    }
  }

  // MARK: Other statuses

  @Test(
    "Sending stops after an early response that is no success, and the connection is not reused",
    arguments: [302, 404, 413, 503])
  func rejected(status: Int) async throws {
    try await with(readsContent: false) { request, observer in
      guard request.path == "/" else { return .text("next") }
      return Reply.text("rejected", status: status)
        .inserting([.wait(observer.headArrived)], at: .content(4))
    } body: { bench in
      let response = try await bench.client.response(to: Self.upload().retry(.none))
      #expect(response.status == status && response.value.string == "rejected")
      #expect(!response.trace.events.contains { $0.kind == .requestSent })
      #expect((bench.observer.reports.last ?? 0) < Int64(Self.length))
      #expect(try await bench.client.send(message(.get, "/next")).string == "next")
      #expect(bench.server.exchanges.map(\.connection) == [0, 1])
    }
  }
}

/// An observer of the response's head and of the bytes reported as sent.
private final class Observer: CallObserver {
  let headArrived = Gate()
  private let totals = Mutex<[Int64]>([])
  var reports: [Int64] { totals.withLock { $0 } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    // Ignores the responses to other requests, which have status 200.
    case .headArrived(let status) where status != 200: headArrived.open()
    case .sendProgress(let sent, _): totals.withLock { $0.append(sent) }
    default: break
    }
  }
}
