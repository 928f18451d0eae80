import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: raising the priority of a queued attempt")
struct SchedulerRaiseTests {
  /// A scheduler with a limit of one and a running attempt, and the names of the queued attempts.
  private struct Bench {
    private(set) var state = SchedulerState(ConcurrencyLimits(global: 1))
    private var tickets: [String: SchedulerState.Ticket] = [:]
    var seconds = 0

    private var now: MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

    mutating func enter(_ name: String, _ priority: CallPriority) {
      var newcomer = SchedulerBench.newcomer()
      newcomer.priority = priority
      switch state.enter(newcomer, now: now) {
      case .runs(let ticket), .waits(let ticket, _): tickets[name] = ticket
      case .refused: break
      }
    }

    mutating func raise(_ name: String, to priority: CallPriority) {
      if let ticket = tickets[name] { state.raise(ticket, to: priority, now: now) }
    }

    /// Ends an attempt. Returns the attempt that runs next.
    mutating func leave(_ name: String) -> String? {
      if let ticket = tickets.removeValue(forKey: name) { state.leave(ticket, now: now) }
      let next = state.next(now: now)?.ticket
      return tickets.first { $0.value == next }?.key
    }

    /// Returns all attempts in the order in which they run.
    mutating func order(after first: String) -> [String] {
      var order: [String] = []
      var last = first
      while let next = leave(last) {
        order.append(next)
        last = next
      }
      return order
    }
  }

  @Test("A raised attempt gets the rank of an attempt that arrives now with that priority")
  func raised() {
    var bench = Bench()
    for name in ["0", "a", "b", "c"] { bench.enter(name, .normal) }
    bench.enter("d", .high)
    bench.raise("b", to: .high)
    let order = bench.order(after: "0")
    #expect(order == ["d", "b", "a", "c"])
    #expect(bench.state.isIdle)
  }

  @Test("A raised attempt keeps a rank that is already lower")
  func aged() {
    var bench = Bench()
    bench.enter("0", .normal)
    bench.enter("old", .normal)
    bench.seconds = 15
    bench.enter("urgent", .immediate)
    // Ageing has compensated for more than one step of priority.
    bench.raise("old", to: .high)
    bench.raise("urgent", to: .low)
    bench.seconds = 30
    bench.raise("urgent", to: .immediate)
    bench.enter("last", .immediate)
    let order = bench.order(after: "0")
    #expect(order == ["urgent", "old", "last"])
  }

  @Test("Raising an attempt that does not wait has no effect")
  func notWaiting() {
    var bench = Bench()
    bench.enter("0", .low)
    bench.enter("1", .low)
    bench.raise("0", to: .immediate)
    let next = bench.leave("0")
    #expect(next == "1")
    bench.raise("1", to: .immediate)
    bench.raise("0", to: .immediate)
    #expect(bench.state.running == 1 && bench.state.waiting == 0)
    let none = bench.leave("1")
    #expect(none == nil)
    #expect(bench.state.isIdle)
  }

  @Test(
    "With raised priorities, the attempt with the lowest rank always runs next, and nothing leaks",
    arguments: 0..<60 as Range<UInt64>)
  func random(seed: UInt64) {
    var world = RaiseWorld(seed: seed)
    for _ in 0..<250 { world.step() }
    world.finish()
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
  }
}

/// Random calls that arrive, become more urgent and leave, at two origins and with a tag that is sometimes paused, with
/// a limit of one.
private struct RaiseWorld {
  private struct Caller {
    let ticket: SchedulerState.Ticket
    let isTagged: Bool
    var instant: MonotonicInstant
    var number: Int
  }

  private let limits = ConcurrencyLimits(global: 1)
  private var state: SchedulerState
  private var random: SeededGenerator
  private var now = MonotonicInstant(sinceStart: .zero)
  private var running: SchedulerState.Ticket?
  private var waiting: [Caller] = []
  private var isHeld = false
  private var nextNumber = 0
  var problems: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    state = SchedulerState(limits)
  }

  mutating func step() {
    now = now.advanced(by: .milliseconds(Int.random(in: 0...4000, using: &random)))
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4: enter()
    case 4..<7: raise()
    case 7..<9: leave()
    default: toggle()
    }
    settle()
  }

  mutating func finish() {
    if isHeld { toggle() }
    settle()
    while running != nil {
      leave()
      settle()
    }
    if !waiting.isEmpty || !state.isIdle { problems.append("an attempt waits for ever, or the state is not idle") }
  }

  private func instant(of priority: CallPriority) -> MonotonicInstant {
    now.advanced(by: limits.ageing * priority.steps)
  }

  private mutating func enter() {
    let priority = CallPriority.allCases[Int.random(in: 0..<5, using: &random)]
    var newcomer = SchedulerBench.newcomer(at: Bool.random(using: &random) ? "a" : "b")
    newcomer.priority = priority
    let isTagged = Bool.random(using: &random)
    if isTagged { newcomer.tags = ["t"] }
    switch state.enter(newcomer, now: now) {
    case .runs(let ticket): running = ticket
    case .waits(let ticket, _):
      waiting.append(Caller(ticket: ticket, isTagged: isTagged, instant: instant(of: priority), number: nextNumber))
      nextNumber += 1
    case .refused: problems.append("one is refused")
    }
  }

  private mutating func raise() {
    guard let index = waiting.indices.randomElement(using: &random) else { return }
    let priority = CallPriority.allCases[Int.random(in: 0..<5, using: &random)]
    state.raise(waiting[index].ticket, to: priority, now: now)
    guard instant(of: priority) < waiting[index].instant else { return }
    waiting[index].instant = instant(of: priority)
    waiting[index].number = nextNumber
    nextNumber += 1
  }

  private mutating func leave() {
    if let ticket = running { state.leave(ticket, now: now) }
    running = nil
  }

  private mutating func toggle() {
    isHeld.toggle()
    if isHeld { state.pause("t") } else { state.resume("t") }
  }

  private mutating func settle() {
    let able = running == nil ? waiting.filter { !isHeld || !$0.isTagged } : []
    let expected = able.min { ($0.instant, $0.number) < ($1.instant, $1.number) }
    let decision = state.next(now: now)
    if decision?.ticket != expected?.ticket { problems.append("it was another's turn") }
    guard let decision else { return }
    running = decision.ticket
    waiting.removeAll { $0.ticket == decision.ticket }
    if state.waiting != waiting.count { problems.append("the number of waiting attempts is wrong") }
  }
}
