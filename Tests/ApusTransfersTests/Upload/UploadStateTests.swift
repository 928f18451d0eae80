import Testing

@testable import ApusTransfers

@Suite("The state of an upload")
struct UploadStateTests {
  private let ticket = UploadTicket(location: "https://films.example/files/1")

  // `#expect` cannot call mutating functions.
  private func expect<Value: Equatable>(
    _ value: Value, _ expected: Value, _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(value == expected, sourceLocation: location)
  }

  private func state(_ length: Int64 = 100, _ rules: UploadState.Rules = .init(), at offset: Int64? = nil)
    -> UploadState
  {
    var state = UploadState(length: length, rules)
    if let offset { expect(state.create(ticket, StoredParts(upTo: offset)), true) }
    return state
  }

  @Test("An upload is created, sent, and finished unless the server completes it by itself")
  func order() {
    var state = state()
    #expect(state.next == .create)
    expect(state.create(ticket, StoredParts()), true)
    #expect(state.next == .send(0..<100))
    expect(state.send(StoredParts(upTo: 60)), true)
    #expect(state.next == .send(60..<100))
    expect(state.send(StoredParts(upTo: 100)), true)
    #expect(state.next == .finish)
  }

  @Test("Concurrent parts differ from each other, from stored parts and from parts in progress")
  func parallel() {
    var ticket = ticket
    ticket.partSize = 40
    var state = UploadState(length: 180, .init())
    #expect(state.nextPart(besides: []) == nil)
    expect(state.create(ticket, StoredParts()), true)
    var sending: [Range<Int64>] = []
    while let part = state.nextPart(besides: sending) { sending.append(part) }
    #expect(sending == [0..<40, 40..<80, 80..<120, 120..<160, 160..<180])
    var parts = StoredParts()
    expect(parts.insert(.init(40..<80)), true)
    expect(state.send(parts), true)
    #expect(state.nextPart(besides: [0..<40, 120..<160]) == 80..<120)
    #expect(state.nextPart(besides: [0..<40, 80..<120, 120..<160, 160..<180]) == nil)
    expect(state.recordInterruption(isTemporary: true), 1)
    #expect(state.nextPart(besides: []) == nil && state.next == .locate)
  }

  @Test("An upload from a record is located first")
  func continues() {
    var state = UploadState(length: 100, .init(), continuing: ticket)
    #expect(state.next == .locate)
    expect(state.locate(StoredParts(upTo: 40)), true)
    #expect(state.next == .send(40..<100))
  }

  @Test("A part is not longer than the ticket permits")
  func limited() {
    var ticket = ticket
    ticket.maximumPart = 30
    var state = UploadState(length: 100, .init())
    expect(state.create(ticket, StoredParts()), true)
    #expect(state.next == .send(0..<30))
    expect(state.send(StoredParts(upTo: 90)), true)
    #expect(state.next == .send(90..<100))
  }

  @Test("Parts of one size fill the gaps between stored parts, which may arrive in any order")
  func gaps() {
    var ticket = ticket
    ticket.partSize = 40
    var parts = StoredParts()
    expect(parts.insert(.init(80..<100, receipt: "c")), true)
    expect(parts.insert(.init(0..<40, receipt: "a")), true)
    expect(parts.insert(.init(30..<50)), false)
    expect(parts.insert(.init(90..<95)), false)
    var state = UploadState(length: 100, .init(), continuing: ticket)
    expect(state.locate(parts), true)
    #expect(state.next == .send(40..<80))
    expect(parts.insert(.init(40..<80, receipt: "b")), true)
    expect(state.send(parts), true)
    #expect(state.next == .finish && parts.parts.map(\.receipt) == ["a", "b", "c"])
  }

  @Test("Parts beyond the end of the content are rejected")
  func beyond() {
    var state = state()
    expect(state.create(ticket, StoredParts(upTo: 101)), false)
  }

  @Test("After an interruption the upload is located; after too many interruptions without progress it ends")
  func interruptions() {
    var rules = UploadState.Rules()
    rules.continuations = 2
    var state = state(100, rules, at: 0)
    expect(state.recordInterruption(isTemporary: true), 1)
    #expect(state.next == .locate)
    expect(state.locate(StoredParts()), true)
    expect(state.recordInterruption(isTemporary: true), 2)
    expect(state.locate(StoredParts(upTo: 1)), true)
    expect(state.recordInterruption(isTemporary: true), 1)
    expect(state.recordInterruption(isTemporary: true), 2)
    expect(state.recordInterruption(isTemporary: true), nil)
    expect(state.recordInterruption(isTemporary: false), nil)
  }

  @Test("A creation without a response is repeated only where repeating is harmless", arguments: [false, true])
  func creation(_ repeats: Bool) {
    var rules = UploadState.Rules()
    rules.repeatsCreation = repeats
    var state = state(100, rules)
    expect(state.recordInterruption(isTemporary: true), (repeats ? 1 : nil))
    #expect(state.next == .create)
    state.announce(ticket)
    expect(state.recordInterruption(isTemporary: true) == nil, false)
    #expect(state.next == .locate)
  }

  @Test("An upload that the server no longer has starts over at most twice, where the protocol permits it")
  func gone() {
    var state = state(at: 50)
    for _ in 0..<2 {
      expect(state.startOver(), true)
      #expect(state.next == .create && state.stored.count == 0)
    }
    expect(state.startOver(), false)
    var rules = UploadState.Rules()
    rules.restartsWhenGone = false
    var other = self.state(100, rules, at: 50)
    expect(other.startOver(), false)
  }

  @Test(
    "A server that accepts no bytes, or does not state its offset, receives a bounded number of requests",
    arguments: 0..<3)
  func noProgress(step: Int) throws {
    var state = state(at: 50)
    var rounds = 0
    var ticket = try #require(state.ticket)
    while rounds < 100 {
      // The server may state another expiration with each response.
      ticket.expiration = Int64(rounds)
      let parts = StoredParts(upTo: 50)
      let isPossible =
        step == 0 ? state.recordUnknownParts() : step == 1 ? state.send(parts) : state.create(ticket, parts)
      guard isPossible else { break }
      expect(state.locate(StoredParts(upTo: 50)), true)
      rounds += 1
    }
    #expect(rounds == 5)
  }

  @Test("An upload continues at the server's offset, even if that offset has decreased")
  func backwards() {
    var state = state(at: 80)
    expect(state.recordInterruption(isTemporary: true), 1)
    expect(state.locate(StoredParts(upTo: 30)), true)
    #expect(state.next == .send(30..<100))
  }
}
