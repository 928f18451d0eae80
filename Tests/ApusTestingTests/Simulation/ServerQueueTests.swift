import ApusCore
import Testing

@testable import ApusTesting

@Suite("Simulation: server queue")
struct ServerQueueTests {
  @Test("A simulated server starts, queues or refuses requests")
  func arriving() {
    var queue = ServerQueue(capacity: 2, places: 1)
    let arrivals = (1...4 as ClosedRange<UInt64>).map { queue.arrive($0) }
    #expect(arrivals == [.starts, .starts, .waits, .refused])
    #expect(queue.busy == 2 && queue.waiting == [3])
    let first = queue.finish()
    #expect(first == [3])
    let second = queue.finish()
    #expect(second == [])
    #expect(queue.busy == 1 && queue.waiting.isEmpty)
  }

  @Test("A client that disconnects frees a queue slot, but not the capacity of a request in progress")
  func leaving() {
    var queue = ServerQueue(capacity: 1, places: 1)
    for ticket in 1...2 as ClosedRange<UInt64> { _ = queue.arrive(ticket) }
    let (waited, worked) = (queue.leave(2), queue.leave(1))
    #expect(waited && !worked)
    #expect(queue.busy == 1 && queue.waiting.isEmpty)
    let next = queue.arrive(3)
    #expect(next == .waits)
  }

  @Test("When the capacity falls, running work continues; when it rises, queued requests start in order")
  func resizing() {
    var queue = ServerQueue(capacity: 3, places: 9)
    for ticket in 1...7 as ClosedRange<UInt64> { _ = queue.arrive(ticket) }
    let fewer = queue.resize(capacity: 1, places: 9)
    #expect(fewer == [] && queue.busy == 3)
    let done = [queue.finish(), queue.finish(), queue.finish()]
    #expect(done == [[], [], [4]])
    let more = queue.resize(capacity: 3, places: 9)
    #expect(more == [5, 6])
    #expect(queue.busy == 3 && queue.waiting == [7])
  }

  @Test(
    "After random events the server queue is within its limits and has lost no request",
    arguments: 0..<20 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = ServerQueue(capacity: 3, places: 5)
    var working: Set<UInt64> = []
    var waiting: [UInt64] = []
    for ticket in 0..<500 as Range<UInt64> {
      switch UInt64.random(in: 0..<4, using: &generator) {
      case 0, 1:
        switch queue.arrive(ticket) {
        case .starts: working.insert(ticket)
        case .waits: waiting.append(ticket)
        case .refused: #expect(waiting.count >= 5 && working.count >= 3)
        }
      case 2:
        guard let done = working.min() else { continue }
        working.remove(done)
        let starting = queue.finish()
        #expect(starting == Array(waiting.prefix(starting.count)))
        working.formUnion(starting)
        waiting.removeFirst(starting.count)
      default:
        guard let gone = waiting.randomElement(using: &generator) else { continue }
        let didWait = queue.leave(gone)
        #expect(didWait)
        waiting.removeAll { $0 == gone }
      }
      #expect(queue.busy == working.count && queue.waiting == waiting)
      #expect(working.count <= 3 && waiting.count <= 5)
      #expect(waiting.isEmpty || working.count == 3)
    }
  }

  @Test("A link sends messages one after the other, independently in each direction")
  func traffic() {
    var traffic = LinkTraffic()
    let now = MonotonicInstant(sinceStart: .seconds(10))
    func seconds(_ instant: MonotonicInstant) -> Duration { now.duration(to: instant) }
    let (first, second) = (
      traffic.passUp(600, bandwidth: 1000, at: now), traffic.passUp(1600, bandwidth: 1000, at: now)
    )
    // Each message has 400 bytes in addition to its content.
    #expect(seconds(first) == .seconds(1))
    #expect(seconds(second) == .seconds(3))
    let (down, free) = (traffic.passDown(600, bandwidth: 1000, at: now), traffic.passUp(9, bandwidth: nil, at: now))
    #expect(seconds(down.head) == .milliseconds(400))
    #expect(seconds(down.all) == .seconds(1))
    #expect(seconds(free) == .zero)
    let later = MonotonicInstant(sinceStart: .seconds(20))
    let fresh = traffic.passUp(600, bandwidth: 1000, at: later)
    #expect(later.duration(to: fresh) == .seconds(1))
  }
}
