import ApusTesting
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Invalidations and removals by generation")
struct CacheInvalidationsTests {
  private static func digest(_ number: UInt64) -> KeyedDigest { KeyedDigest(first: number, second: 0) }

  private let one = Self.digest(1)
  private let two = Self.digest(2)
  private let three = Self.digest(3)

  @Test("A response to a request that was sent before an invalidation is invalidated, one sent after it is not")
  func generations() {
    var state = CacheInvalidations()
    let before = state.begin()
    state.record([.group(one)], targets: [two])
    let after = state.begin()
    #expect(state.isInvalidated([one], sentAt: before) && state.isInvalidated([three, one], sentAt: before))
    #expect(!state.isInvalidated([one], sentAt: after) && !state.isInvalidated([two, three], sentAt: before))
    #expect(state.isInvalidated(target: two, sentAt: before) && !state.isInvalidated(target: two, sentAt: after))
    #expect(!state.isInvalidated(target: one, sentAt: before) && !state.isInvalidated([], sentAt: before))
    #expect(!state.isRemoved(account: 1, sentAt: before))
    state.record([])
    #expect(state.generation == after)
  }

  @Test("Groups are recorded also without requests in flight, and after them")
  func groupsStay() {
    var state = CacheInvalidations()
    let stored = state.begin()
    state.end()
    state.record([.group(one)], targets: [two])
    #expect(state.isInvalidated([one], sentAt: stored) && state.targetCount == 0 && state.count == 1)
    _ = state.begin()
    state.record([], targets: [two])
    #expect(state.targetCount == 1)
    state.end()
    #expect(state.targetCount == 0 && state.isInvalidated([one], sentAt: stored) && !state.hasFlights)
  }

  @Test("A removal of an account, of all accounts, or of everything concerns what was sent before it")
  func removals() {
    var state = CacheInvalidations()
    let first = state.begin()
    state.record([.account(1)])
    let second = state.begin()
    #expect(state.isRemoved(account: 1, sentAt: first) && !state.isRemoved(account: 1, sentAt: second))
    #expect(!state.isRemoved(account: 2, sentAt: first) && !state.isRemoved(account: nil, sentAt: first))
    state.record([.accounts])
    let third = state.begin()
    for account in [1, 2] as [UInt64] {
      #expect(state.isRemoved(account: account, sentAt: second) && !state.isRemoved(account: account, sentAt: third))
    }
    #expect(!state.isRemoved(account: nil, sentAt: second))
    state.record([.everything])
    #expect(state.isRemoved(account: nil, sentAt: third) && state.isRemoved(account: 2, sentAt: third))
    #expect(!state.isRemoved(account: nil, sentAt: state.generation))
  }

  @Test("Beyond the capacity the oldest groups are forgotten: older responses of any group count as invalidated")
  func groupCapacity() {
    var state = CacheInvalidations(capacity: 8)
    for number in 1...8 { state.record([.group(Self.digest(UInt64(number)))]) }
    #expect(state.count == 8 && state.floors == .init() && !state.isInvalidated([Self.digest(99)], sentAt: 0))
    state.record([.group(Self.digest(9))])
    // 1, 2 and 3 are forgotten.
    #expect(state.count == 6 && state.floors == .init(groups: 3))
    #expect(state.isInvalidated([Self.digest(99)], sentAt: 2) && !state.isInvalidated([Self.digest(99)], sentAt: 3))
    #expect(!state.isInvalidated([], sentAt: 2) && !state.isRemoved(account: 1, sentAt: 2))
    #expect(state.isInvalidated([Self.digest(5)], sentAt: 4) && !state.isInvalidated([Self.digest(5)], sentAt: 5))
    state.record((20..<60).map { .group(Self.digest($0)) })
    #expect(state.count <= 8 && state.isInvalidated([Self.digest(30)], sentAt: 9))
    #expect(!state.isInvalidated([Self.digest(30)], sentAt: 10))
  }

  @Test("Beyond the capacity the oldest accounts are forgotten: older responses of all accounts count as removed")
  func accountCapacity() {
    var state = CacheInvalidations(capacity: 8)
    for number in 1...9 { state.record([.account(UInt64(number))]) }
    #expect(state.count == 6 && state.floors == .init(accounts: 3))
    #expect(state.isRemoved(account: 99, sentAt: 2) && !state.isRemoved(account: 99, sentAt: 3))
    #expect(!state.isRemoved(account: nil, sentAt: 2) && !state.isInvalidated([one], sentAt: 2))
  }

  @Test("The same group again does not use up the capacity")
  func repeated() {
    var state = CacheInvalidations(capacity: 8)
    for _ in 0..<100 { state.record([.group(one)]) }
    #expect(state.count == 1 && state.floors == .init() && state.isInvalidated([one], sentAt: 99))
  }

  @Test("Targets beyond the capacity count as invalidated for the requests in flight, not for later ones")
  func targetCapacity() {
    var state = CacheInvalidations(capacity: 4)
    let first = state.begin()
    state.record([], targets: [1, 2, 3].map(Self.digest))
    #expect(state.targetCount == 3 && !state.isInvalidated(target: Self.digest(6), sentAt: first))
    state.record([], targets: [4, 5].map(Self.digest))
    #expect(state.targetCount == 0 && state.isInvalidated(target: Self.digest(6), sentAt: first))
    let second = state.begin()
    #expect(!state.isInvalidated(target: Self.digest(6), sentAt: second))
    state.end()
    state.end()
    state.end()
    #expect(!state.hasFlights)
    state.record([], targets: [Self.digest(6)])
    #expect(state.targetCount == 0)
  }

  @Test("The changes of one process, recorded by another at their generations, have the same effect")
  func otherProcess() {
    var (state, other) = (CacheInvalidations(capacity: 8), CacheInvalidations(capacity: 8))
    for number in 1...12 as ClosedRange<UInt64> {
      let changes: [CacheInvalidations.Change] = [.group(Self.digest(number)), .account(number)]
      state.record(changes)
      other.record(changes, at: number)
    }
    #expect(other == state && state.generation == 12)
    #expect(state.isRecorded(.group(Self.digest(12)), at: 12) && !state.isRecorded(.group(Self.digest(12)), at: 11))
    #expect(state.isRecorded(.account(12), at: 12) && !state.isRecorded(.accounts, at: 12))
    // A floor also raises the generation, so that responses to later requests are valid.
    other.raise(.init(groups: 20, accounts: 21, everything: 0))
    #expect(other.generation == 21 && other.isInvalidated([one], sentAt: 19) && !other.isInvalidated([one], sentAt: 20))
    #expect(other.isRemoved(account: 99, sentAt: 20) && !other.isRemoved(account: 99, sentAt: other.begin()))
    other.raise(to: 30)
    other.raise(to: 25)
    #expect(other.begin() == 30)
  }

  @Test("Random invalidations are found exactly, or too often at the capacity", arguments: 0..<50)
  func randomFuzz(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let isExact = seed.isMultiple(of: 2)
    var state = CacheInvalidations(capacity: isExact ? 1000 : 4)
    var sent: [(generation: UInt64, invalidated: Set<UInt64>, removed: Set<UInt64>)] = []
    for _ in 0..<fuzzRounds(usually: 300) {
      let number = UInt64.random(in: 0..<6, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: sent.append((state.begin(), [], []))
      case 1:
        guard let index = sent.indices.randomElement(using: &generator) else { continue }
        sent.remove(at: index)
        state.end()
      case 2:
        state.record([.group(Self.digest(number))], targets: [Self.digest(number)])
        for index in sent.indices { sent[index].invalidated.insert(number) }
      default:
        state.record([.account(number)])
        for index in sent.indices { sent[index].removed.insert(number) }
      }
      for request in sent {
        for number in 0..<6 as Range<UInt64> {
          let group = state.isInvalidated([Self.digest(number)], sentAt: request.generation)
          let target = state.isInvalidated(target: Self.digest(number), sentAt: request.generation)
          let account = state.isRemoved(account: number, sentAt: request.generation)
          let expected = (request.invalidated.contains(number), request.removed.contains(number))
          #expect((group || !expected.0) && (target || !expected.0) && (account || !expected.1))
          if isExact { #expect(group == expected.0 && target == expected.0 && account == expected.1) }
        }
      }
      #expect(state.count <= 1000 && state.targetCount <= 1000)
    }
  }
}
