import ApusTestServer
import Testing

@Suite("Faults on the wire")
struct FaultTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"

  /// Returns the bytes that a client receives for a request with content, and how the connection ends.
  private func answer(_ fault: Fault) async throws -> (
    text: String, end: RawClient.End, outcomes: [RecordedExchange.Outcome]
  ) {
    try await TestServer.with(options: .init(faults: [fault])) { _ in
      .text("world")
    } body: { server in
      let (text, end) = try await RawClient.with(server.port) { client in
        // Errors are ignored: if the connection is already reset, reading fails as well.
        try? await client.request("POST", "/", "Content-Length: 5\r\nConnection: close\r\n")
        try? await client.send("hello")
        return await client.receiveAll()
      }
      try await server.wait { $0.openConnections == 0 && $0.inFlight == 0 }
      #expect(server.connectionFailures.isEmpty)
      return (text, end, server.exchanges.map(\.outcome))
    }
  }

  /// Returns the part of the response that is sent before a fault.
  private func sent(before trigger: Fault.Trigger) -> String {
    switch trigger {
    case .connect, .requestHead, .requestContent, .responseHead: ""
    case .responseContent: Self.head + "w"
    case .end: Self.head + "world"
    }
  }

  @Test("The fault matrix has every effect at every trigger")
  func matrix() {
    #expect(Fault.matrix.count == 48)
    #expect(Set(Fault.matrix.map(\.description)).count == 48)
    #expect(Fault.matrix.first?.description == "close at connect")
  }

  @Test("The faults close, half-close and reset take effect at their trigger", arguments: Fault.Trigger.allCases)
  func ends(trigger: Fault.Trigger) async throws {
    for effect in [Fault.Effect.close, .halfClose, .reset] {
      let (text, end, outcomes) = try await answer(Fault(at: trigger, effect))
      switch effect {
      case .reset:
        // A reset may discard bytes in flight.
        #expect(sent(before: trigger).hasPrefix(text), "\(effect)")
        // A client that is still sending gets the reset while sending, and only once.
        #expect(end == .reset || trigger == .connect || trigger == .requestHead, "\(effect)")
      case .close where trigger == .connect || trigger == .requestHead:
        // Closing a connection with an unread request resets the connection.
        #expect(text.isEmpty && (end == .closed || end == .reset), "\(effect)")
      default:
        #expect(text == sent(before: trigger) && end == .closed, "\(effect)")
      }
      let isReset = if case .reset = effect { true } else { false }
      let outcome: RecordedExchange.Outcome = isReset ? .serverReset : trigger == .end ? .replied : .serverClosed
      #expect(outcomes.allSatisfy { $0 == outcome } && outcomes.count == (trigger == .connect ? 0 : 1), "\(effect)")
    }
  }

  @Test(
    "The fault truncate sends the given number of bytes, or the rest of the response, and cuts the connection",
    arguments: Fault.Trigger.allCases)
  func truncations(trigger: Fault.Trigger) async throws {
    for length in [0, 3, 1000] {
      let (text, end, outcomes) = try await answer(Fault(at: trigger, .truncate(after: length)))
      let whole = Self.head + "world"
      let left = whole.prefix(sent(before: trigger).count + length)
      // A reset may overtake bytes in flight.
      #expect(text == left || end == .reset && left.hasPrefix(text), "\(length)")
      #expect(outcomes.allSatisfy { $0 == (left == whole ? .replied : .serverClosed) }, "\(length)")
    }
  }

  @Test(
    "A stalled exchange continues normally when its gate opens", arguments: Fault.Trigger.allCases)
  func stalls(trigger: Fault.Trigger) async throws {
    let gate = Gate()
    try await TestServer.with(options: .init(faults: [Fault(at: trigger, .stall(until: gate))])) { _ in
      .text("world")
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("POST", "/", "Content-Length: 5\r\nConnection: close\r\n")
        try await client.send("hello")
        try await gate.waitForArrivals(1)
        let before = sent(before: trigger)
        #expect(try await client.receiveText(before.utf8.count) == before)
        #expect(server.exchanges.map(\.outcome) == (trigger == .connect ? [] : [.inFlight]))
        gate.open()
        #expect(await client.receiveAll().text == (Self.head + "world").dropFirst(before.count))
      }
      #expect(server.exchanges.map(\.outcome) == [.replied])
      #expect(server.exchanges.map(\.text) == ["hello"])
    }
  }

  @Test(
    "A stall after a number of content bytes reads exactly that number of bytes, even if more bytes have arrived",
    arguments: [1, 1000, 99_999])
  func exactStalls(length: Int) async throws {
    let (gate, head) = (Gate(), Gate())
    let fault = Fault(at: .requestContent(after: length), .stall(until: gate), on: .request(1))
    try await TestServer.with(options: .init(faults: [fault])) { request in
      request.number == 0 ? .text("first").waiting(for: head) : .text("second")
    } body: { server in
      try await RawClient.with(server.port) { client in
        // The second request has arrived with all its content, and waits behind the first.
        try await client.request("GET", "/", "")
        try await server.wait { $0.inFlight == 1 }
        try await client.request("POST", "/", "Content-Length: 100000\r\nConnection: close\r\n")
        try await client.send([UInt8](repeating: 7, count: 100_000))
        head.open()
        try await gate.waitForArrivals(1)
        #expect(server.exchanges.last?.contentLength == length)
        gate.open()
        _ = await client.receiveAll()
        #expect(server.exchanges.last?.contentLength == 100_000)
      }
    }
  }

  @Test("A stall without a gate lasts until the client disconnects", arguments: Fault.Trigger.allCases)
  func endlessStalls(trigger: Fault.Trigger) async throws {
    try await TestServer.with(options: .init(faults: [Fault(at: trigger, .stall())])) { _ in
      .text("world")
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request("POST", "/", "Content-Length: 5\r\n")
      try await client.send("hello")
      try await server.wait { trigger == .connect ? $0.openConnections == 1 : $0.inFlight == 1 }
      await client.close()
      try await server.wait { $0.openConnections == 0 && $0.inFlight == 0 }
    }
  }

  @Test(
    "A stall without a gate detects the disconnect of a client with a lot of data in flight",
    arguments: [Fault.Trigger.connect, .requestHead])
  func endlessStallsOfUploads(trigger: Fault.Trigger) async throws {
    try await TestServer.with(options: .init(faults: [Fault(at: trigger, .stall())])) { _ in
      .text("never")
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request("POST", "/", "Content-Length: 10000000\r\n")
      // More than the socket buffers can hold, so that sending ends only if the server reads.
      try await client.send([UInt8](repeating: 7, count: 10_000_000))
      await client.close()
      try await server.wait { $0.acceptedConnections == 1 && $0.openConnections == 0 && $0.inFlight == 0 }
    }
  }

  @Test("A throttled exchange completes slowly", arguments: Fault.Trigger.allCases)
  func throttles(trigger: Fault.Trigger) async throws {
    let start = ContinuousClock.now
    let (text, _, outcomes) = try await answer(Fault(at: trigger, .throttle(bytes: 8, every: .milliseconds(2))))
    #expect(text == Self.head + "world" && outcomes == [.replied])
    let throttled = (text.utf8.count - sent(before: trigger).utf8.count) / 8
    #expect(.now - start >= .milliseconds(2 * (throttled - 1)))
  }

  @Test("A throttle also slows the reading of request content")
  func throttledReading() async throws {
    let fault = Fault(at: .connect, .throttle(bytes: 16, every: .milliseconds(1)))
    try await TestServer.with(options: .init(faults: [fault])) { _ in
      .text("world")
    } body: { server in
      try await RawClient.with(server.port) { client in
        let start = ContinuousClock.now
        try await client.request("POST", "/", "Content-Length: 800\r\n")
        try await client.send(String(repeating: "x", count: 800))
        _ = try await client.receiveAnswer()
        #expect(.now - start >= .milliseconds(40))
      }
    }
  }

  @Test(
    "The fault garbage sends random bytes at its trigger, the same for the same seed", arguments: Fault.Trigger.allCases
  )
  func noise(trigger: Fault.Trigger) async throws {
    let (text, _, _) = try await answer(Fault(at: trigger, .garbage(bytes: 20, seed: 1)))
    let before = sent(before: trigger)
    let rest = (Self.head + "world").dropFirst(before.count)
    #expect(text.utf8.starts(with: before.utf8))
    #expect(text.utf8.suffix(rest.utf8.count).elementsEqual(rest.utf8))
    #expect(text != before + rest)
    #expect(try await answer(Fault(at: trigger, .garbage(bytes: 20, seed: 1))).text == text)
    #expect(try await answer(Fault(at: trigger, .garbage(bytes: 20, seed: 2))).text != text)
  }

  @Test("A flood of any kind has the given size at any trigger", arguments: Fault.Trigger.allCases)
  func floods(trigger: Fault.Trigger) async throws {
    let bound = 100_000
    for flood in [nil] + Fault.Flood.allCases {
      let (text, _, outcomes) = try await answer(Fault(at: trigger, .flood(flood, upTo: bound)))
      let size = text.unicodeScalars.count - Self.head.utf8.count - 5
      #expect(size > bound * 4 / 5 && size < bound * 6 / 5, "\(flood.map { $0.rawValue } ?? "usual") \(size)")
      #expect(outcomes == [.replied])
    }
  }

  @Test("The default kind of flood depends on the trigger")
  func usualFloods() async throws {
    let bound = 50_000
    #expect(
      try await answer(Fault(at: .connect, .flood(upTo: bound))).text.hasPrefix(
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    #expect(
      try await answer(Fault(at: .requestHead, .flood(upTo: bound))).text.hasPrefix(
        "HTTP/1.1 103 Early Hints\r\n\r\n"))
    let fields = try await answer(Fault(at: .responseHead, .flood(upTo: bound))).text
    #expect(fields.hasPrefix("HTTP/1.1 200 OK\r\n") && fields.hasSuffix("f\r\n\r\nworld"))
    let content = try await answer(Fault(at: .responseContent(after: 2), .flood(upTo: bound))).text
    #expect(content.contains("\r\n2\r\nwo\r\n4000\r\n") && content.hasSuffix("\r\n0\r\n\r\n"))
    let trailers = try await answer(Fault(at: .responseContent(after: 5), .flood(.trailers, upTo: bound))).text
    #expect(trailers.contains("\r\n5\r\nworld\r\n0\r\nX-Flood: ff"))
    let extensions = try await answer(Fault(at: .responseContent(), .flood(.chunkExtensions, upTo: bound))).text
    #expect(extensions.contains("\r\n1\r\nw\r\n1;xxx") && extensions.hasSuffix("x\r\n\0\r\n0\r\n\r\n"))
    #expect(try await answer(Fault(at: .end, .flood(upTo: bound))).text.contains("worldHTTP/1.1 200 OK\r\n"))
  }

  @Test("A fault's scope is a path, a connection, a request or a closure; the first matching fault is used")
  func scopes() async throws {
    let faults = [
      Fault(at: .responseHead, .close, on: .path("/closed")),
      Fault(at: .responseHead, .reset, on: .request(1)),
      Fault(at: .responseContent(after: 2), .close, on: .connection(2)),
      Fault(at: .responseHead, .garbage(bytes: 0), on: .path("/closed")),
      Fault(at: .end, .close, on: .matching { $0.request?.method == "PUT" }),
      Fault(at: .connect, .close, on: .connection(4)),
      Fault(at: .connect, .close, on: .path("/never")),
    ]
    try await TestServer.with(options: .init(faults: faults)) { _ in
      .text("world")
    } body: { server in
      for (method, target) in [("GET", "/closed?x"), ("GET", "/"), ("GET", "/"), ("PUT", "/"), ("GET", "/")] {
        _ = try await RawClient.with(server.port) { client in
          try? await client.request(method, target)
          return await client.receiveAll().text
        }
      }
      try await server.wait { $0.openConnections == 0 }
      #expect(server.exchanges.map(\.outcome) == [.serverClosed, .serverReset, .serverClosed, .replied])
      #expect(server.acceptedConnections == 5)
    }
  }

  @Test("Several faults can affect the same exchange")
  func several() async throws {
    let (first, second) = (Gate(), Gate())
    let faults = [
      Fault(at: .requestContent(after: 2), .stall(until: first)), Fault(at: .responseHead, .stall(until: second)),
      Fault(at: .responseContent(after: 3), .close),
    ]
    try await TestServer.with(options: .init(faults: faults)) { _ in
      .text("world")
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("POST", "/", "Content-Length: 5\r\n")
        try await client.send("he")
        try await first.waitForArrivals(1)
        #expect(server.exchanges.map(\.contentLength) == [2])
        first.open()
        try await client.send("llo")
        try await second.waitForArrivals(1)
        #expect(server.exchanges.map(\.text) == ["hello"])
        second.open()
        #expect(await client.receiveAll().text == Self.head + "wor")
      }
    }
  }
}
