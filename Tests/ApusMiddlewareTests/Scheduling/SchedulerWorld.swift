import ApusCore
import ApusTesting

@testable import ApusMiddleware

/// A world around a scheduler that takes random steps, and knows by looking at everybody what is to follow.
struct SchedulerWorld {
  enum Phase {
    case waiting, running, streaming, paused, over
  }

  struct Caller {
    let ticket: SchedulerState.Ticket
    let origin: Int
    let tags: [Tag]
    var phase: Phase
    let deadline: MonotonicInstant?
    /// When it got its permit.
    var started: MonotonicInstant
    /// Later by what its priority puts it back, and the order of those that wait.
    var instant: MonotonicInstant
    var number: Int
  }

  static let tags: [Tag] = ["a", "b", "c"]

  let limits: SchedulingLimits
  var state: SchedulerState
  var random: SeededGenerator
  var now = MonotonicInstant(sinceStart: .zero)
  var callers: [Caller] = []
  var held: Set<Tag> = []
  var isHeld = false
  var nextNumber = 0
  var problems: [String] = []
  /// The longest time that a call had its permit, for each origin.
  var longest: [Int: Duration] = [:]
  var lastEnd: [Int: MonotonicInstant] = [:]
  /// How many were told that they are late before their time was up.
  var hopeless = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    var limits = SchedulingLimits(
      total: Int.random(in: 1...6, using: &random), perOrigin: Int.random(in: 1...3, using: &random))
    if Bool.random(using: &random) { limits.tags["a"] = Int.random(in: 1...3, using: &random) }
    if Bool.random(using: &random) { limits.tags["b"] = 1 }
    limits.queue = Int.random(in: 4...16, using: &random)
    limits.ageing = .seconds(Int.random(in: 0...4, using: &random))
    limits.refusesHopeless = seed % 2 == 1
    self.limits = limits
    state = SchedulerState(limits)
  }

  mutating func step() {
    now = now.advanced(by: .milliseconds(Int.random(in: 0...1500, using: &random)))
    switch Int.random(in: 0..<18, using: &random) {
    case 0..<6: enter()
    case 6..<10: leave(.running)
    case 10: leave(.waiting)
    case 11: giveUp()
    case 12: pause()
    case 13: resume()
    case 14: toggle(Self.tags[Int.random(in: 0..<3, using: &random)])
    case 15: stream()
    case 16: leave(.streaming)
    default: toggleEverything()
    }
    settle()
    check()
    callers.removeAll { $0.phase == .over }
  }

  /// Lets everybody go and come to an end.
  mutating func finish() {
    for tag in Self.tags where held.contains(tag) { toggle(tag) }
    if isHeld { toggleEverything() }
    settle()
    for index in callers.indices where callers[index].phase == .paused { end(index) }
    while let index = callers.indices.first(where: { [.running, .streaming].contains(callers[$0].phase) }) {
      end(index)
      settle()
      check()
    }
    if callers.contains(where: { $0.phase != .over }) { problems.append("somebody waits for ever") }
    if !state.isIdle { problems.append("left something behind") }
  }

  // MARK: Steps

  private mutating func enter() {
    let origin = Int.random(in: 0..<4, using: &random)
    let tags = Self.tags.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    let priority = CallPriority.allCases[Int.random(in: 0..<5, using: &random)]
    var newcomer = SchedulerBench.newcomer(at: "host\(origin)")
    newcomer.tags = tags
    newcomer.priority = priority
    if Int.random(in: 0..<4, using: &random) == 0 {
      newcomer.deadline = now.advanced(by: .seconds(Int.random(in: 1...20, using: &random)))
    }
    let hasRoom = hasRoom(origin, tags)
    let instant = now.advanced(by: limits.ageing * priority.steps)
    let (deadline, number, started) = (newcomer.deadline, nextNumber, now)
    func caller(_ ticket: SchedulerState.Ticket, _ phase: Phase) -> Caller {
      Caller(
        ticket: ticket, origin: origin, tags: tags, phase: phase, deadline: deadline, started: started,
        instant: instant, number: number)
    }
    let queued = callers.count { $0.phase == .waiting }
    switch state.enter(newcomer, now: now) {
    case .runs(let ticket):
      if !hasRoom { problems.append("one runs for which there is no room") }
      callers.append(caller(ticket, .running))
    case .waits(let ticket, _):
      if hasRoom { problems.append("one waits for which there is room") }
      if queued >= limits.queue { problems.append("too many wait") }
      callers.append(caller(ticket, .waiting))
      nextNumber += 1
    case .refused(.queueFull):
      if queued < limits.queue { problems.append("one is refused that could wait") }
    case .refused(.late): tellLate(deadline, origin)
    }
  }

  private mutating func leave(_ phase: Phase) {
    if let index = pick(phase) { end(index) }
  }

  private mutating func end(_ index: Int) {
    state.leave(callers[index].ticket, now: now)
    if callers[index].phase == .running {
      let time = callers[index].started.duration(to: now)
      lastEnd[callers[index].origin] = now
      longest[callers[index].origin] = max(time, longest[callers[index].origin] ?? .zero)
    }
    callers[index].phase = .over
  }

  private mutating func giveUp() {
    guard let index = pick(.waiting) else { return }
    if !state.cancelWaiting(callers[index].ticket) { problems.append("one that waits cannot give up") }
    end(index)
  }

  /// One has the head of its answer: of its permit it keeps what it has by limited tags.
  private mutating func stream() {
    guard let index = pick(.running) else { return }
    let isLimited = callers[index].tags.contains { limits.tags[$0] != nil }
    let time = callers[index].started.duration(to: now)
    lastEnd[callers[index].origin] = now
    longest[callers[index].origin] = max(time, longest[callers[index].origin] ?? .zero)
    if state.startStreaming(callers[index].ticket, now: now) != isLimited {
      problems.append("tags are counted otherwise")
    }
    callers[index].phase = isLimited ? .streaming : .over
  }

  private mutating func pause() {
    guard let index = pick(.running) else { return }
    state.pause(callers[index].ticket)
    callers[index].phase = .paused
  }

  private mutating func resume() {
    guard let index = pick(.paused) else { return }
    let hasRoom = hasRoom(callers[index].origin, callers[index].tags)
    switch state.resume(callers[index].ticket, now: now) {
    case .runs:
      if !hasRoom { problems.append("one goes on for which there is no room") }
      run(index)
    case .waits:
      if hasRoom { problems.append("one does not go on for which there is room") }
      callers[index].phase = .waiting
      callers[index].instant = now
      callers[index].number = nextNumber
      nextNumber += 1
    case .refused: problems.append("one is refused that had a permit")
    }
  }

  private mutating func toggle(_ tag: Tag) {
    if held.remove(tag) != nil { return state.release(tag) }
    held.insert(tag)
    state.hold(tag)
  }

  private mutating func toggleEverything() {
    isHeld.toggle()
    if isHeld { state.holdEverything() } else { state.releaseEverything() }
  }

  private mutating func pick(_ phase: Phase) -> Int? {
    let some = callers.indices.filter { callers[$0].phase == phase }
    return some.randomElement(using: &random)
  }

  // MARK: What follows

  private mutating func settle() {
    while true {
      let late = callers.filter { caller in
        caller.phase == .waiting && caller.deadline.map { $0 <= now } ?? false
      }
      let next = callers.filter { $0.phase == .waiting && hasRoom($0.origin, $0.tags) }
        .min { ($0.instant, $0.number) < ($1.instant, $1.number) }
      guard let decision = state.next(now: now) else {
        if !late.isEmpty || next != nil { problems.append("somebody is forgotten") }
        return
      }
      guard let index = callers.firstIndex(where: { $0.ticket == decision.ticket && $0.phase != .over }) else {
        problems.append("nobody is told")
        return
      }
      switch decision.verdict {
      case .late:
        tellLate(callers[index].deadline, callers[index].origin)
        end(index)
      case .runs:
        if !late.isEmpty || next?.ticket != decision.ticket { problems.append("it was another's turn") }
        run(index)
      }
    }
  }

  private mutating func run(_ index: Int) {
    callers[index].phase = .running
    callers[index].started = now
  }

  /// Whoever is told has no time left, or less than the longest that a call took at a server that has one to do.
  private mutating func tellLate(_ deadline: MonotonicInstant?, _ origin: Int) {
    guard let deadline else { return problems.append("one is told that has no deadline") }
    guard deadline > now else { return }
    hopeless += 1
    guard limits.refusesHopeless, let longest = longest[origin], now.advanced(by: longest) >= deadline else {
      return problems.append("one is told that has time")
    }
    let isBusy = callers.contains { $0.phase == .running && $0.origin == origin }
    let isRecent = lastEnd[origin].map { $0.advanced(by: longest) >= now } ?? false
    if !isBusy, !isRecent { problems.append("one is told because of what calls took long ago") }
  }

  private func hasRoom(_ origin: Int, _ tags: [Tag]) -> Bool {
    let running = callers.filter { $0.phase == .running }
    guard !isHeld, running.count < limits.total, running.count(where: { $0.origin == origin }) < limits.perOrigin,
      held.isDisjoint(with: tags)
    else { return false }
    let counted = callers.filter { [.running, .streaming].contains($0.phase) }
    return tags.allSatisfy { tag in
      guard let limit = limits.tags[tag] else { return true }
      return counted.count { $0.tags.contains(tag) } < limit
    }
  }

  private mutating func check() {
    if state.running != callers.count(where: { $0.phase == .running }) { problems.append("miscounts who runs") }
    if state.waiting != callers.count(where: { $0.phase == .waiting }) { problems.append("miscounts who waits") }
    if state.ticketCount != callers.count(where: { $0.phase != .over }) { problems.append("keeps a ticket") }
    if Self.tags.contains(where: { state.isHolding($0) != held.contains($0) }) { problems.append("holds another tag") }
  }
}
