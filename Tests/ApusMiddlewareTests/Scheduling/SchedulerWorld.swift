import ApusCore
import ApusTesting

@testable import ApusMiddleware

/// A model of a scheduler that takes random steps, and derives each decision from all attempts.
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
    /// The instant at which the attempt was admitted.
    var started: MonotonicInstant
    /// The arrival plus ageing, and the order of arrival.
    var instant: MonotonicInstant
    var number: Int
  }

  static let tags: [Tag] = ["a", "b", "c"]

  let limits: ConcurrencyLimits
  var state: SchedulerState
  var random: SeededGenerator
  var now = MonotonicInstant(sinceStart: .zero)
  var callers: [Caller] = []
  var held: Set<Tag> = []
  var isHeld = false
  var nextNumber = 0
  var problems: [String] = []
  /// The longest duration of an attempt, by origin.
  var longest: [Int: Duration] = [:]
  var lastEnd: [Int: MonotonicInstant] = [:]
  /// The adapted limits, by origin.
  var adapted: [Int: Int] = [:]
  /// The origin of the latest attempt, whose limit is kept.
  var lastOrigin = -1
  /// The number of attempts that were refused before their deadline.
  var hopeless = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    var limits = ConcurrencyLimits(
      global: Int.random(in: 1...6, using: &random),
      perOrigin: Bool.random(using: &random) ? nil : Int.random(in: 1...3, using: &random))
    if Bool.random(using: &random) { limits.tags["a"] = Int.random(in: 1...3, using: &random) }
    if Bool.random(using: &random) { limits.tags["b"] = 1 }
    limits.queueCapacity = Int.random(in: 4...16, using: &random)
    limits.ageing = .seconds(Int.random(in: 0...4, using: &random))
    limits.refusesLateCalls = seed % 2 == 1
    self.limits = limits
    state = SchedulerState(limits)
  }

  mutating func step() {
    now = now.advanced(by: .milliseconds(Int.random(in: 0...1500, using: &random)))
    switch Int.random(in: 0..<19, using: &random) {
    case 0..<6: enter()
    case 6..<10: leave(.running)
    case 10: leave(.waiting)
    case 11: giveUp()
    case 12: pause()
    case 13: resume()
    case 14: toggle(Self.tags[Int.random(in: 0..<3, using: &random)])
    case 15: stream()
    case 16: leave(.streaming)
    case 17: adaptLimit()
    default: toggleEverything()
    }
    settle()
    check()
    callers.removeAll { $0.phase == .over }
    forgetOrigins()
  }

  /// Resumes all tags and ends all attempts.
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
    if callers.contains(where: { $0.phase != .over }) { problems.append("an attempt waits for ever") }
    if !state.isIdle { problems.append("the state is not idle") }
  }

  // MARK: Steps

  private mutating func enter() {
    let origin = Int.random(in: 0..<4, using: &random)
    lastOrigin = origin
    forgetOrigins()
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
      if !hasRoom { problems.append("an attempt runs without room") }
      callers.append(caller(ticket, .running))
    case .waits(let ticket, _):
      if hasRoom { problems.append("an attempt waits though there is room") }
      if queued >= limits.queueCapacity { problems.append("the queue exceeds its limit") }
      callers.append(caller(ticket, .waiting))
      nextNumber += 1
    case .refused(.queueFull):
      if queued < limits.queueCapacity { problems.append("an attempt is refused though the queue has room") }
    case .refused(.deadlineTooNear): tellLate(deadline, origin)
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
    if !state.cancelWaiting(callers[index].ticket) { problems.append("a queued attempt cannot be cancelled") }
    end(index)
  }

  /// Starts a stream, so that the attempt counts only toward the limits of its tags.
  private mutating func stream() {
    guard let index = pick(.running) else { return }
    let isLimited = callers[index].tags.contains { limits.tags[$0] != nil }
    let time = callers[index].started.duration(to: now)
    lastEnd[callers[index].origin] = now
    longest[callers[index].origin] = max(time, longest[callers[index].origin] ?? .zero)
    if state.startStreaming(callers[index].ticket, now: now) != isLimited {
      problems.append("a stream counts for the wrong tags")
    }
    callers[index].phase = isLimited ? .streaming : .over
  }

  /// Adapts the limit of a running attempt's origin to HTTP/2 or HTTP/1.1.
  private mutating func adaptLimit() {
    guard let index = pick(.running) else { return }
    let streams = Bool.random(using: &random) ? nil : UInt32.random(in: 0...8, using: &random)
    state.setLimit(of: callers[index].ticket, streams: streams)
    if limits.isPerOriginPreset { adapted[callers[index].origin] = streams.map { max(1, Int($0)) } }
  }

  /// Removes the limits of origins without attempts, except the latest origin.
  private mutating func forgetOrigins() {
    let used = Set(callers.map(\.origin)).union([lastOrigin])
    adapted = adapted.filter { used.contains($0.key) }
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
      if !hasRoom { problems.append("an attempt resumes without room") }
      run(index)
    case .waits:
      if hasRoom { problems.append("an attempt does not resume though there is room") }
      callers[index].phase = .waiting
      callers[index].instant = now
      callers[index].number = nextNumber
      nextNumber += 1
    case .refused: problems.append("a paused attempt is refused")
    }
  }

  private mutating func toggle(_ tag: Tag) {
    if held.remove(tag) != nil { return state.resume(tag) }
    held.insert(tag)
    state.pause(tag)
  }

  private mutating func toggleEverything() {
    isHeld.toggle()
    if isHeld { state.pauseAll() } else { state.resumeAll() }
  }

  private mutating func pick(_ phase: Phase) -> Int? {
    let some = callers.indices.filter { callers[$0].phase == phase }
    return some.randomElement(using: &random)
  }

  // MARK: Decisions

  private mutating func settle() {
    while true {
      let late = callers.filter { caller in
        caller.phase == .waiting && caller.deadline.map { $0 <= now } ?? false
      }
      let next = callers.filter { $0.phase == .waiting && hasRoom($0.origin, $0.tags) }
        .min { ($0.instant, $0.number) < ($1.instant, $1.number) }
      guard let decision = state.next(now: now) else {
        if !late.isEmpty || next != nil { problems.append("a decision is missing") }
        return
      }
      guard let index = callers.firstIndex(where: { $0.ticket == decision.ticket && $0.phase != .over }) else {
        problems.append("a decision is about an unknown ticket")
        return
      }
      switch decision.verdict {
      case .late:
        tellLate(callers[index].deadline, callers[index].origin)
        end(index)
      case .runs:
        if !late.isEmpty || next?.ticket != decision.ticket { problems.append("the order is wrong") }
        run(index)
      }
    }
  }

  private mutating func run(_ index: Int) {
    callers[index].phase = .running
    callers[index].started = now
  }

  /// Checks that a refused attempt has no time left, or less than the duration of the longest attempt at a busy server.
  private mutating func tellLate(_ deadline: MonotonicInstant?, _ origin: Int) {
    guard let deadline else { return problems.append("an attempt without a deadline is refused as late") }
    guard deadline > now else { return }
    hopeless += 1
    guard limits.refusesLateCalls, let longest = longest[origin], now.advanced(by: longest) >= deadline else {
      return problems.append("an attempt with enough time is refused as late")
    }
    let isBusy = callers.contains { $0.phase == .running && $0.origin == origin }
    let isRecent = lastEnd[origin].map { $0.advanced(by: longest) >= now } ?? false
    if !isBusy, !isRecent { problems.append("an attempt is refused because of outdated durations") }
  }

  private func hasRoom(_ origin: Int, _ tags: [Tag]) -> Bool {
    let running = callers.filter { $0.phase == .running }
    guard !isHeld, running.count < limits.global, held.isDisjoint(with: tags),
      running.count(where: { $0.origin == origin }) < adapted[origin] ?? limits.perOrigin
    else { return false }
    let counted = callers.filter { [.running, .streaming].contains($0.phase) }
    return tags.allSatisfy { tag in
      guard let limit = limits.tags[tag] else { return true }
      return counted.count { $0.tags.contains(tag) } < limit
    }
  }

  private mutating func check() {
    if state.running != callers.count(where: { $0.phase == .running }) {
      problems.append("the number of running attempts is wrong")
    }
    if state.waiting != callers.count(where: { $0.phase == .waiting }) {
      problems.append("the number of waiting attempts is wrong")
    }
    if state.ticketCount != callers.count(where: { $0.phase != .over }) {
      problems.append("the number of tickets is wrong")
    }
    if Self.tags.contains(where: { state.isPaused($0) != held.contains($0) }) {
      problems.append("the held tags are wrong")
    }
  }
}
