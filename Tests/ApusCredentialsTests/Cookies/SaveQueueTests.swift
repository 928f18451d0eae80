import ApusTesting
import Testing

@testable import ApusCredentials

@Suite("The queue of changes to save")
struct SaveQueueTests {
  @Test("The first change starts a writer, and changes during its write are saved by the next write")
  func changes() {
    var queue = SaveQueue()
    let starts = (queue.change(), queue.change())
    #expect(starts == (true, false))
    let first = (queue.begin(), queue.change(), queue.end(), queue.begin())
    #expect(first.0 && !first.1 && first.2 == [] && first.3)
    let last = (queue.end(), queue.begin())
    #expect(last.0 == [] && !last.1)
    let starts2 = queue.change()
    #expect(starts2)
  }

  @Test("A task waits for the write that contains the changes before it")
  func waits() {
    var queue = SaveQueue()
    let none = queue.wait()
    #expect(none == nil)
    _ = queue.change()
    let first = queue.wait()
    _ = queue.begin()
    let during = queue.wait()
    _ = queue.change()
    let next = queue.wait()
    let ended = (queue.end(), queue.wait())
    #expect(ended.0 == [first, during] && ended.1 != nil)
    _ = queue.begin()
    let all = queue.end()
    #expect(all == [next, ended.1])
    // Between the last write and the end of the writer.
    let after = queue.wait()
    #expect(after == nil)
  }

  @Test("A task that no longer waits is not resumed")
  func cancelled() throws {
    var queue = SaveQueue()
    _ = queue.change()
    let (cancelled, second) = (queue.wait(), queue.wait())
    let first = try #require(cancelled)
    queue.cancel(first)
    queue.cancel(99)
    _ = queue.begin()
    let resumed = queue.end()
    #expect(resumed == [second])
  }

  @Test(
    "In any order of events, each change is in a write that begins after it, and each task is resumed once",
    arguments: 0..<200 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = SaveQueue()
    var (changes, saved, writes) = (0, 0, 0)
    var (isRunning, isWriting) = (false, false)
    var waiting: [SaveQueue.Ticket: Int] = [:]
    for _ in 0..<200 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1:
        changes += 1
        let starts = queue.change()
        #expect(starts == !isRunning)
        isRunning = true
      case 2:
        let ticket = queue.wait()
        #expect((ticket != nil) == (isWriting || saved < changes))
        if let ticket { waiting[ticket] = changes }
      case 3:
        if let ticket = waiting.keys.randomElement(using: &generator) {
          queue.cancel(ticket)
          waiting[ticket] = nil
        }
      default:
        guard isRunning else { continue }
        if isWriting {
          let resumed = queue.end()
          #expect(Set(resumed) == Set(waiting.filter { $0.value <= saved }.keys) && resumed.count == Set(resumed).count)
          for ticket in resumed { waiting[ticket] = nil }
          isWriting = false
        } else {
          let begins = queue.begin()
          #expect(begins == (saved < changes))
          (isRunning, isWriting, saved) = (begins, begins, changes)
          writes += begins ? 1 : 0
        }
      }
    }
    #expect(writes <= changes)
  }
}
