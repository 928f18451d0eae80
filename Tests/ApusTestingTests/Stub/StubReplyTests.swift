import ApusCore
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Stub replies")
struct StubReplyTests {
  private let stub = StubTransport()
  private let clock = ManualClock(.manual)
  private let api: Client
  private let text = Request<String>.get("/text")

  init() {
    var settings = ClientSettings()
    settings.runtime.clock = clock
    api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
  }

  @Test("A stub delivers trailers with complete content and with content in pieces")
  func trailers() async throws {
    let sum = try #require(HTTPField.Name("X-Sum"))
    for answer in [StubReply.text("ab"), .pieces(["a", "b"]), .text("")] {
      stub.onAny(reply: answer.trailers([sum: "1", .setCookie: "a=b"]))
      #expect(try await api.response(to: text).trailers == [sum: "1"])
      try await api.withResponse(to: text) { response in
        #expect(response.trailers.isEmpty)
        _ = try await response.collect()
        #expect(response.trailers == [sum: "1"])
      }
    }
    stub.onAny(reply: .text("").trailers([sum: "1"]))
    #expect(try await api.response(to: Request<Void>.head("/text")).trailers.isEmpty)
  }

  @Test("A stub reply's latency passes on the client's clock")
  func latency() async throws {
    stub.onAny(reply: .text("late").after(.seconds(2)))
    async let answer = api.response(to: text)
    try await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(1999))
    #expect(clock.sleepers == 1)
    clock.advance(by: .milliseconds(1))
    let response = try await answer
    #expect(response.value == "late")
    #expect(response.trace.duration == .seconds(2))
  }

  @Test("A stub reply that waits for a gate arrives when the gate opens")
  func gate() async throws {
    let gate = Gate()
    stub.onAny(reply: .text("late").waiting(for: gate))
    async let answer = api.send(text)
    try await gate.waitForArrivals(1)
    #expect(stub.openExchanges.count == 1)
    gate.open()
    #expect(try await answer == "late")
    #expect(stub.openExchanges.isEmpty)
  }

  @Test(
    "A cancelled stub exchange ends immediately and is recorded as cancelled",
    arguments: ["opening", "stalled", "clock", "content"])
  func cancellation(place: String) async throws {
    let answers: [String: StubReply] = [
      "opening": .text("").waiting(for: Gate()), "stalled": .stalled, "clock": .text("").after(.seconds(1)),
      "content": .pieces(["a", "b"]).stalled(after: 1),
    ]
    stub.onAny(reply: try #require(answers[place]))
    let call = Task { [api, text] in try await api.send(text) }
    try await stub.waitForExchanges(1)
    call.cancel()
    let result = await call.result
    #expect(throws: CallError.self) { try result.get() }
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("A buffered call receives all pieces of a stub reply")
  func pieces() async throws {
    stub.onAny(reply: .pieces(["one ", "", "two"]))
    #expect(try await api.send(text) == "one two")
    #expect(stub.exchanges.map(\.outcome) == [.replied])
  }

  @Test("The pieces of a stub reply pass the gate one by one")
  func gatedPieces() async throws {
    let gate = Gate()
    stub.onAny(reply: .pieces(["a", "b"], gate: gate))
    let pieces = try await api.withResponse(to: text) { response in
      var pieces: [String] = []
      gate.release()
      pieces.append(String(decoding: try await response.next() ?? Data(), as: UTF8.self))
      gate.release()
      pieces.append(String(decoding: try await response.next() ?? Data(), as: UTF8.self))
      #expect(try await response.next() == nil)
      return pieces
    }
    #expect(pieces == ["a", "b"])
    #expect(gate.arrivals == 2)
  }

  @Test("The pieces of a stub reply are paced on the client's clock")
  func dripping() async throws {
    stub.onAny(reply: .pieces(["a", "b"]).paced(every: .seconds(1)))
    async let answer = api.send(text)
    for _ in 0..<2 {
      try await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
    }
    #expect(try await answer == "ab")
    #expect(clock.now.sinceStart == .seconds(2))
  }

  @Test("A failing stub reply delivers its pieces and then the error")
  func brokenOff() async throws {
    stub.onAny(reply: .pieces(["a", "b", "c"]).failing(after: 2))
    let error = try #require(await #expect(throws: CallError.self) { try await api.send(text) })
    #expect(error.code == .connectionLost)
    #expect(error.requestState == .responded)
    let read = Gate()
    await #expect(throws: CallError.self) {
      try await api.withResponse(to: text) { response in
        #expect(try await response.next() == Data("a".utf8))
        #expect(try await response.next() == Data("b".utf8))
        read.open()
        _ = try await response.next()
      }
    }
    #expect(read.isOpen)
    #expect(stub.exchanges.map(\.outcome) == [.failed, .failed])
  }

  @Test("A streamed call receives a stub reply's content piece by piece and discards the unread rest")
  func streamed() async throws {
    stub.onAny(reply: .text("all at once"))
    try await api.withResponse(to: text) { response in
      #expect(response.expectedLength == 11)
      let piece = try await response.next()
      #expect(piece == Data("all at once".utf8))
    }
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("A stub reply whose value cannot be encoded fails the exchange")
  func encodingFails() async throws {
    stub.onAny(reply: .encoded(Double.nan))
    await #expect(throws: CallError.self) { try await api.send(text) }
    #expect(stub.exchanges.map(\.outcome) == [.failed])
  }
}
