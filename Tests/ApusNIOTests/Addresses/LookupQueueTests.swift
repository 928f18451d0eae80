import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

@Suite("Lookup queue")
struct LookupQueueTests {
  @Test("Lookups run up to the width, further lookups wait in order, and lookups beyond the limit are refused")
  func order() {
    var queue = LookupQueue<Int>(width: 2, limit: 2)
    let entries = ["a", "b", "c", "d", "e"].enumerated().map { queue.enter($0, for: $1) }
    #expect(entries == [.run, .run, .wait, .wait, .refuse])
    #expect(queue.running == 2 && queue.waiting == 2)
    var ended = queue.finished("b")
    #expect(ended.waiters == [1] && ended.next == "c")
    ended = queue.finished("a")
    #expect(ended.waiters == [0] && ended.next == "d")
    for (name, waiter) in [("c", 2), ("d", 3)] {
      ended = queue.finished(name)
      #expect(ended.waiters == [waiter] && ended.next == nil)
    }
    #expect(queue.running == 0 && queue.waiting == 0)
  }

  @Test("Callers of one name share its lookup, whether running or queued")
  func sharing() {
    var queue = LookupQueue<Int>(width: 1, limit: 1)
    let entries = [(0, "a"), (1, "a"), (2, "b"), (3, "b"), (4, "a")].map { queue.enter($0, for: $1) }
    #expect(entries == [.run, .wait, .wait, .wait, .wait])
    var ended = queue.finished("a")
    #expect(ended.waiters == [0, 1, 4] && ended.next == "b")
    ended = queue.finished("b")
    #expect(ended.waiters == [2, 3] && ended.next == nil)
  }

  @Test("A queued name leaves the queue with its last caller; a running lookup occupies its thread until it ends")
  func leaving() {
    var queue = LookupQueue<Int>(width: 1, limit: 1)
    for (waiter, name) in [(0, "a"), (1, "b"), (2, "b")] { _ = queue.enter(waiter, for: name) }
    var left = queue.leave(1, for: "b")
    #expect(left && queue.waiting == 1)
    left = queue.leave(2, for: "b")
    #expect(left && queue.waiting == 0)
    left = queue.leave(2, for: "b")
    #expect(!left)
    left = queue.leave(0, for: "a")
    #expect(left && queue.running == 1)
    // A caller that arrives during the lookup gets its result.
    let entry = queue.enter(3, for: "a")
    #expect(entry == .wait)
    let ended = queue.finished("a")
    #expect(ended.waiters == [3] && ended.next == nil)
  }

  @Test(
    "In any order of events every caller is resumed once and the width is never exceeded",
    arguments: 0..<50 as Range<UInt64>)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = LookupQueue<Int>(width: 2, limit: 3)
    var waiting: [Int: String] = [:]
    var running: Set<String> = []
    for id in 0..<400 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        let name = "\(Int.random(in: 0..<8, using: &random))"
        switch queue.enter(id, for: name) {
        case .run:
          #expect(running.insert(name).inserted)
          waiting[id] = name
        case .wait: waiting[id] = name
        case .refuse: #expect(queue.waiting == 3 && running.count == 2)
        }
      case 2:
        guard let (id, name) = waiting.sorted(by: { $0.key < $1.key }).randomElement(using: &random) else { continue }
        let left = queue.leave(id, for: name)
        #expect(left)
        waiting[id] = nil
      default:
        guard let name = running.sorted().randomElement(using: &random) else { continue }
        running.remove(name)
        let (told, next) = queue.finished(name)
        #expect(Set(told) == Set(waiting.filter { $0.value == name }.keys))
        for id in told { waiting[id] = nil }
        if let next { #expect(running.insert(next).inserted && waiting.values.contains(next)) }
      }
      #expect(queue.running == running.count && running.count <= 2)
    }
  }
}
