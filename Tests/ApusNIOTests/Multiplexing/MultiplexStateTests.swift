import NIOCore
import Testing

@testable import ApusNIO

@Suite("The connection's side of HTTP/2")
struct MultiplexStateTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private func at(_ seconds: Double) -> NIODeadline { Self.start + .nanoseconds(Int64(seconds * 1e9)) }

  private func makeState(maximumStreams: UInt32? = nil) throws -> MultiplexState {
    var state = MultiplexState(now: Self.start)
    if let maximumStreams { _ = try state.receive([Setting(.maximumStreams, maximumStreams)]) }
    return state
  }

  private func open(_ state: inout MultiplexState, _ count: Int = 1, at seconds: Double = 0) {
    for _ in 0..<count { _ = state.offered(isRepeatable: true, now: at(seconds)) }
  }

  // MARK: Streams

  @Test("Streams have odd identifiers in order, and 100 are open at most before SETTINGS")
  func identifiers() throws {
    var state = try makeState()
    for index in 0..<100 {
      #expect(state.offered(isRepeatable: true, now: Self.start) == .open(StreamID(2 * index + 1)))
    }
    #expect(state.offered(isRepeatable: true, now: Self.start) == .wait)
    state.ended()
    #expect(state.offered(isRepeatable: true, now: Self.start) == .open(201))
  }

  @Test(
    "The server's limit on streams applies, at most 1,000",
    arguments: [(nil, 1000), (0, 0), (1, 1), (100, 100), (5000, 1000), (UInt32.max, 1000)] as [(UInt32?, Int)])
  func capacity(limit: UInt32?, expected: Int) throws {
    var state = try makeState()
    _ = try state.receive(limit.map { [Setting(.maximumStreams, $0)] } ?? [])
    #expect(state.capacity == expected)
    let admission = state.offered(isRepeatable: true, now: Self.start)
    #expect(admission == (expected == 0 ? .giveBack : .open(1)))
  }

  @Test("A draining connection and a closed one take no exchanges")
  func draining() throws {
    var state = try makeState()
    open(&state)
    state.drain()
    #expect(state.offered(isRepeatable: true, now: Self.start) == .giveBack)
    #expect(state.isSuspended)
    var closed = try makeState()
    #expect(closed.end() == true)
    #expect(closed.end() == false)
    #expect(closed.offered(isRepeatable: true, now: Self.start) == .giveBack)
  }

  @Test("Streams without an exchange are idle, reset or closed")
  func standing() throws {
    var state = try makeState()
    open(&state, 3)
    state.ended()
    _ = state.reset(3, now: Self.start)
    #expect(state.standing(of: 1) == .closed)
    #expect(state.standing(of: 3) == .reset)
    #expect(state.standing(of: 5) == .closed)
    #expect(state.standing(of: 7) == .idle)
    state.drain(after: 1)
    #expect(state.standing(of: 5) == .reset)
  }

  // MARK: Unread content

  @Test("A connection with more than 8 MiB unread takes no exchanges until 4 MiB are left")
  func unread() throws {
    var state = try makeState()
    #expect(state.receiveWindow.receive(8 << 20) == true)
    state.measureUnread()
    #expect(!state.isSuspended)
    #expect(state.receiveWindow.receive(1) == true)
    state.measureUnread()
    #expect(state.isSuspended)
    state.receiveWindow.consume(4 << 20)
    state.measureUnread()
    #expect(state.isSuspended)
    state.receiveWindow.consume(1)
    state.measureUnread()
    #expect(!state.isSuspended)
  }

  // MARK: Silence

  @Test("After 10 seconds of silence a PING goes out with the next request, once")
  func probe() throws {
    var state = try makeState()
    #expect(state.probe(now: at(9.9)) == nil)
    #expect(state.probe(now: at(10)) == 1)
    #expect(state.probe(now: at(11)) == nil)
    #expect(state.deadline == at(15))
    #expect(state.expired(now: at(14.9)) == .nothing)
    #expect(state.expired(now: at(15)) == .lost)
  }

  @Test("Bytes of the server prove that it can be reached")
  func heard() throws {
    var state = try makeState()
    #expect(state.heard(now: at(1)) == false)
    #expect(state.probe(now: at(11)) != nil)
    #expect(state.heard(now: at(12)) == true)
    #expect(state.deadline == nil)
    #expect(state.expired(now: at(100)) == .nothing)
    #expect(state.probe(now: at(21)) == nil)
  }

  @Test("After 60 seconds of silence a request that may not be repeated waits for the response to the PING")
  func longSilence() throws {
    var state = try makeState()
    #expect(state.offered(isRepeatable: false, now: at(59)) == .open(1))
    #expect(state.offered(isRepeatable: false, now: at(60)) == .wait)
    #expect(state.offered(isRepeatable: true, now: at(60)) == .open(3))
    #expect(state.probe(now: at(60)) != nil)
    #expect(state.heard(now: at(61)) == true)
    #expect(state.offered(isRepeatable: false, now: at(61)) == .open(5))
  }

  // MARK: Resets

  @Test("A reset stream keeps its place until the PING after it is acknowledged, at most one PING a second")
  func resets() throws {
    var state = try makeState(maximumStreams: 4)
    open(&state, 4)
    #expect(state.reset(1, now: at(0)) == 1)
    #expect(state.reset(3, now: at(0.1)) == nil)
    #expect(state.capacity == 2)
    #expect(state.offered(isRepeatable: true, now: at(0.1)) == .wait)
    #expect(state.pingAcknowledged(1) == true)
    #expect(state.capacity == 3)
    #expect(state.deadline == at(1))
    #expect(state.expired(now: at(0.9)) == .nothing)
    #expect(state.expired(now: at(1)) == .ping(2))
    #expect(state.deadline == nil)
    #expect(state.pingAcknowledged(2) == true)
    #expect(state.capacity == 4)
  }

  @Test("An acknowledgement that was not awaited changes nothing")
  func foreignAcknowledgement() throws {
    var state = try makeState(maximumStreams: 4)
    open(&state, 2)
    _ = state.reset(1, now: at(0))
    #expect(state.pingAcknowledged(0) == false)
    #expect(state.pingAcknowledged(99) == false)
    #expect(state.capacity == 3)
  }

  @Test("A connection with more than 100 unanswered resets takes no more exchanges")
  func manyResets() throws {
    var state = try makeState()
    _ = try state.receive([])
    open(&state, 101)
    for index in 0..<100 { _ = state.reset(StreamID(2 * index + 1), now: at(0)) }
    #expect(!state.isDraining)
    _ = state.reset(201, now: at(0))
    #expect(state.isDraining)
  }

  @Test("The memory of reset streams is bounded")
  func rememberedResets() throws {
    var state = try makeState()
    var now = 0.0
    for index in 0..<5000 {
      now += 2
      guard !state.isDraining else { break }
      _ = state.heard(now: at(now))
      open(&state, at: now)
      let ping = state.reset(StreamID(2 * index + 1), now: at(now))
      if let ping { #expect(state.pingAcknowledged(ping) == true) }
    }
    #expect(state.standing(of: 9_999) == .reset)
    #expect(state.standing(of: 1) == .closed)
  }

  // MARK: Settings

  @Test("SETTINGS report by how much the windows of open streams change")
  func windowChange() throws {
    var state = try makeState()
    #expect(try state.receive([Setting(.initialWindowSize, 0)]) == -65_535)
    #expect(try state.receive([Setting(.initialWindowSize, 10), Setting(.initialWindowSize, 100)]) == 100)
    #expect(try state.receive([]) == 0)
  }

  @Test("The round trip is measured from the preface to the acknowledgement of the settings, once")
  func roundTrip() throws {
    var state = try makeState()
    #expect(state.settingsAcknowledged(now: at(1)) == false)
    state.begun(now: at(1))
    #expect(state.settingsAcknowledged(now: at(1.05)) == true)
    #expect(state.roundTrip == .milliseconds(50))
    #expect(state.settingsAcknowledged(now: at(9)) == false)
  }

  @Test("A connection whose identifiers are used up takes no more exchanges")
  func identifiersUsedUp() throws {
    var state = MultiplexState(now: Self.start, nextStream: 2_147_483_645)
    #expect(state.offered(isRepeatable: true, now: Self.start) == .open(2_147_483_645))
    #expect(state.offered(isRepeatable: true, now: Self.start) == .open(2_147_483_647))
    #expect(state.offered(isRepeatable: true, now: Self.start) == .giveBack)
  }
}
