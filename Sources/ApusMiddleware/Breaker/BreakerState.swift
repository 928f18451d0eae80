import ApusCore

/// The circuits of one origin: the origin's own circuit, and a circuit for each of its endpoints or groups. A pure
/// state machine, driven by ``CircuitBreaker``.
///
/// An exchange passes if both of its circuits permit it. The endpoint's circuit counts failed responses. The origin's
/// circuit counts exchanges that did not reach the server, and consecutive gateway errors and timeouts from several
/// endpoints, so a single failing endpoint never opens it.
///
/// An origin that was reached but fails is probably overloaded: some requests succeed and others fail. Its circuit then
/// opens only for a short time, and closes after ``minimumParts`` consecutive successful trials, because a single
/// success is weak evidence of recovery.
///
/// Every change of a circuit begins a new epoch; exchanges from earlier epochs do not affect the circuit.
struct BreakerState {
  /// The admission of an exchange. It is returned once, together with the outcome.
  struct Permit: Hashable {
    fileprivate let part: BreakerPart
    /// The epoch of the origin's circuit.
    fileprivate let epoch: UInt64
    /// The circuit of the endpoint or the group; `nil`: there is none.
    fileprivate let own: Position?
    /// Whether the exchange is the trial request of a half-open circuit.
    let isTrial: Bool
    /// Whether the head of the response has been reported.
    fileprivate var hasResponse = false
  }

  /// A slot and the epoch of its circuit, which distinguishes the circuit from later circuits in the same slot.
  fileprivate struct Position: Hashable {
    var slot: Int
    var epoch: UInt64
  }

  /// The reason why an exchange is refused.
  struct Refusal: Hashable {
    /// The part whose circuit is open; `nil`: the origin's.
    let part: BreakerPart?
    /// The time for which the circuit stays open; `nil`: unknown.
    let delay: Duration?
    /// The failure that opened the circuit.
    let cause: FailedAttempt.Cause?
  }

  /// A change of a circuit's status.
  struct Change: Hashable {
    /// The part that the circuit belongs to; `nil`: the origin.
    let part: BreakerPart?
    let status: BreakerStatus
  }

  enum Admission: Hashable {
    /// The exchange may pass. The changes list the circuits that became half-open.
    case pass(Permit, [Change])
    case refuse(Refusal)
  }

  /// The circuit of an endpoint or a group, and its counts.
  private struct Own {
    /// The part; `nil`: the slot is free.
    var part: BreakerPart?
    var circuit: BreakerCircuit
    var window: BreakerWindow
    var gatewayErrors = 0
  }

  /// A run of consecutive failures.
  private struct Run {
    var count = 0
    var first = MonotonicInstant(sinceStart: .zero)
    var last = MonotonicInstant(sinceStart: .zero)
    /// The distinct parts that failed, up to `minimumParts`.
    var parts: [BreakerPart] = []

    mutating func add(_ part: BreakerPart, at now: MonotonicInstant) {
      if count == 0 { first = now }
      (count, last) = (count + 1, now)
      if parts.count < BreakerState.minimumParts, !parts.contains(part) { parts.append(part) }
    }
  }

  private typealias Moment = BreakerCircuit.Moment

  /// The maximum number of endpoints and groups with a circuit of their own. Exchanges of further endpoints count
  /// toward the origin's circuit only.
  static let maximumParts = 256
  /// The number of distinct endpoints whose consecutive failures open the origin's circuit, and the number of
  /// consecutive successful trials that close it.
  static let minimumParts = 3

  private let policy: BreakerPolicy
  private var origin = BreakerCircuit(since: MonotonicInstant(sinceStart: .zero), epoch: 0)
  private var unreachable = Run()
  private var failures = Run()
  /// The first of the failures that opened the origin's circuit.
  private var firstFailure = MonotonicInstant(sinceStart: .zero)
  /// The part whose trial failed last since the origin's circuit opened.
  private var lastTrial: BreakerPart?
  /// The number of further trials that must succeed for the origin's circuit to close.
  private var trialsToClose = 1
  private var slots: [Own] = []
  private var index: [BreakerPart: Int] = [:]
  /// The slot of the latest exchange. The next exchange often uses the same slot and then needs no lookup.
  private var lastSlot: Int?
  /// The earliest instant at which a search for idle circuits makes sense.
  private var nextSweep = MonotonicInstant(sinceStart: .zero)
  private var lastEpoch: UInt64 = 0

  init(_ policy: BreakerPolicy) {
    self.policy = policy
  }

  /// Returns the status of a part's circuit, or of the origin's circuit for `nil`. The status of an unused circuit is
  /// `closed`.
  func status(of part: BreakerPart?) -> BreakerStatus {
    guard let part else { return origin.status }
    return index[part].map { slots[$0].circuit.status } ?? .closed
  }

  /// The statuses of all circuits.
  var statuses: [Change] {
    [Change(part: nil, status: origin.status)]
      + slots.compactMap { own in own.part.map { Change(part: $0, status: own.circuit.status) } }
  }

  /// Whether all records are outdated, so that the state equals a new state.
  func isIdle(at now: MonotonicInstant) -> Bool {
    let window = max(policy.window, .milliseconds(10))
    let isQuiet = [unreachable, failures].allSatisfy { $0.count == 0 || $0.last.advanced(by: window) <= now }
    return isQuiet && origin.isIdle(at: now, policy) && slots.allSatisfy { $0.part == nil || isIdle($0, now) }
  }

  // MARK: Exchanges

  /// Admits or refuses an exchange.
  mutating func admit(_ part: BreakerPart, at now: MonotonicInstant) -> Admission {
    var isTrial = false
    switch origin.verdict(at: now, policy) {
    case .pass: break
    case .trial: isTrial = true
    case .refuse(let delay): return .refuse(Refusal(part: nil, delay: delay, cause: origin.cause))
    }
    // The slot is read in place, because a copy would retain its window.
    guard let slot = slot(of: part, at: now) else { return pass(part, (isTrial, false), nil, now) }
    let place = Position(slot: slot, epoch: slots[slot].circuit.epoch)
    switch slots[slot].circuit.verdict(at: now, policy) {
    case .pass: return pass(part, (isTrial, false), place, now)
    case .trial: return pass(part, (isTrial, true), place, now)
    // A circuit that opened because of the origin's failures takes part in the origin's trial.
    case .refuse where isTrial && slots[slot].circuit.isOpen && slots[slot].circuit.opened >= firstFailure:
      return pass(part, (isTrial, true), place, now)
    case .refuse(let delay):
      return .refuse(Refusal(part: part, delay: delay, cause: slots[slot].circuit.cause))
    }
  }

  /// Counts a successful response head whose content has not arrived yet, because the server was reached.
  mutating func responded(_ permit: inout Permit) {
    permit.hasResponse = true
    guard permit.epoch == origin.epoch, origin.isClosed else { return }
    (unreachable, failures) = (Run(), Run())
    origin.forgetDelay()
  }

  /// Counts the outcome of an exchange.
  ///
  /// - Parameter jitter: a random number from 0 to 1, which spreads the trials of many clients.
  /// - Returns: the circuits whose status changed.
  mutating func end(
    _ permit: Permit, _ outcome: BreakerOutcome, at now: MonotonicInstant, jitter: Double
  ) -> [Change] {
    var changes: [Change] = []
    if let own = permit.own { endOwn(own, outcome, (now, jitter), &changes) }
    if permit.epoch == origin.epoch { endOrigin(permit, outcome, (now, jitter), &changes) }
    return changes
  }

  // MARK: Manual control

  /// Closes a part's circuit and discards its counts. For `nil`, closes the origin's circuit and the circuits of all
  /// its parts.
  mutating func reset(_ part: BreakerPart?, at now: MonotonicInstant) {
    guard let part else {
      for slot in slots.indices { drop(slot) }
      let epoch = nextEpoch()
      origin = BreakerCircuit(since: now, epoch: epoch)
      (unreachable, failures, lastTrial) = (Run(), Run(), nil)
      return
    }
    guard let slot = index[part] else { return }
    let own = made(part, at: now)
    slots[slot] = own
  }

  // MARK: Exchanges, step by step

  private mutating func pass(
    _ part: BreakerPart, _ isTrial: (ofOrigin: Bool, ofPart: Bool), _ own: Position?, _ now: MonotonicInstant
  ) -> Admission {
    var (own, changes): (Position?, [Change]) = (own, [])
    if isTrial.ofOrigin {
      let epoch = nextEpoch()
      origin.halfOpen(now, isUnderWay: true, epoch)
      changes.append(Change(part: nil, status: .halfOpen))
    }
    if isTrial.ofPart, let slot = own?.slot {
      let epoch = nextEpoch()
      own = Position(slot: slot, epoch: epoch)
      slots[slot].circuit.halfOpen(now, isUnderWay: true, epoch)
      changes.append(Change(part: part, status: .halfOpen))
    }
    let isAny = isTrial.ofOrigin || isTrial.ofPart
    return .pass(Permit(part: part, epoch: origin.epoch, own: own, isTrial: isAny), changes)
  }

  private mutating func endOwn(
    _ place: Position, _ outcome: BreakerOutcome, _ moment: Moment, _ changes: inout [Change]
  ) {
    guard place.slot < slots.count, slots[place.slot].circuit.epoch == place.epoch else { return }
    if case .responded = outcome, slots[place.slot].circuit.isClosed {
      slots[place.slot].window.add(isFailure: false, at: moment.now)
      slots[place.slot].gatewayErrors = 0
      return
    }
    var own = slots[place.slot]
    defer { slots[place.slot] = own }
    switch (own.circuit.phase, outcome) {
    case (.closed, .failed(let failure, let cause, let delay)):
      own.circuit.recordDelay(delay, at: moment.now, policy)
      own.window.add(isFailure: true, at: moment.now)
      own.gatewayErrors = failure == .gateway ? own.gatewayErrors + 1 : 0
      guard isTooMuch(own, moment.now) else { return }
      open(&own, cause, moment)
    case (.halfOpen, .failed(_, let cause, let delay)):
      own.circuit.recordDelay(delay, at: moment.now, policy)
      open(&own, cause, moment)
    case (.halfOpen, .responded): own.circuit.close(moment.now, nextEpoch())
    case (.halfOpen, _): return own.circuit.abandonTrial()
    case (.closed, _), (.open, _): return
    }
    changes.append(Change(part: own.part, status: own.circuit.status))
  }

  private mutating func endOrigin(
    _ permit: Permit, _ outcome: BreakerOutcome, _ moment: Moment, _ changes: inout [Change]
  ) {
    switch origin.phase {
    case .closed:
      guard let cause = count(outcome, of: permit, at: moment.now) else { return }
      let isReached = unreachable.count < consecutive
      firstFailure = isReached ? failures.first : unreachable.first
      lastTrial = nil
      openOrigin(cause, moment, isReached: isReached, &changes)
    case .halfOpen: endTrial(permit, outcome, moment, &changes)
    case .open: return
    }
  }

  /// Adds an outcome to the counts of the origin's circuit. Returns the failure that opens the circuit, if any.
  private mutating func count(
    _ outcome: BreakerOutcome, of permit: Permit, at now: MonotonicInstant
  ) -> FailedAttempt.Cause? {
    // If the head was reported before, it was counted then.
    if outcome.hasResponse, !permit.hasResponse { unreachable = Run() }
    switch outcome {
    case .responded where permit.hasResponse: return nil
    case .responded:
      failures = Run()
      origin.forgetDelay()
    case .unreachable(let cause):
      unreachable.add(permit.part, at: now)
      if unreachable.count >= consecutive { return cause }
    case .failed(.gateway, let cause, let delay), .failed(.timeout, let cause, let delay):
      origin.recordDelay(delay, at: now, policy)
      failures.add(permit.part, at: now)
      if failures.count >= consecutive, failures.parts.count >= Self.minimumParts { return cause }
    case .failed(.status, _, _), .failed(.reset, _, _), .nothing: break
    }
    return nil
  }

  private mutating func endTrial(
    _ permit: Permit, _ outcome: BreakerOutcome, _ moment: Moment, _ changes: inout [Change]
  ) {
    switch outcome {
    // Status 500 means that the server was reached and the application failed.
    case .responded, .failed(.status, _, _):
      trialsToClose -= 1
      guard trialsToClose <= 0 else { return origin.abandonTrial() }
      closeOrigin(after: permit, moment.now, &changes)
    case .unreachable(let cause):
      lastTrial = nil
      openOrigin(cause, moment, isReached: false, &changes)
    // A second consecutive failed trial of the same endpoint is no further evidence about the origin, so that a single
    // failing endpoint cannot keep the circuit open.
    case .failed where permit.own != nil && permit.part == lastTrial: origin.abandonTrial()
    case .failed(_, let cause, let delay):
      lastTrial = permit.part
      origin.recordDelay(delay, at: moment.now, policy)
      openOrigin(cause, moment, isReached: true, &changes)
    case .nothing: origin.abandonTrial()
    }
  }

  // MARK: Circuits

  private var consecutive: Int { max(1, policy.consecutiveFailures) }

  private mutating func nextEpoch() -> UInt64 {
    lastEpoch += 1
    return lastEpoch
  }

  private mutating func open(_ own: inout Own, _ cause: FailedAttempt.Cause, _ moment: Moment) {
    let epoch = nextEpoch()
    own.circuit.open(cause, moment, epoch, policy)
    own.window.clear()
    own.gatewayErrors = 0
  }

  private mutating func openOrigin(
    _ cause: FailedAttempt.Cause, _ moment: Moment, isReached: Bool, _ changes: inout [Change]
  ) {
    let epoch = nextEpoch()
    trialsToClose = isReached ? Self.minimumParts : 1
    if isReached { origin.openBriefly(cause, moment, epoch, policy) } else { origin.open(cause, moment, epoch, policy) }
    (unreachable, failures) = (Run(), Run())
    changes.append(Change(part: nil, status: origin.status))
  }

  /// Closes the origin's circuit. Circuits that opened together with it become half-open, except the circuit of the
  /// trial's own part.
  private mutating func closeOrigin(after trial: Permit, _ now: MonotonicInstant, _ changes: inout [Change]) {
    var epoch = nextEpoch()
    origin.close(now, epoch)
    lastTrial = nil
    changes.append(Change(part: nil, status: .closed))
    for slot in slots.indices where slot != trial.own?.slot {
      guard let part = slots[slot].part, slots[slot].circuit.isOpen, slots[slot].circuit.opened >= firstFailure else {
        continue
      }
      epoch = nextEpoch()
      slots[slot].circuit.halfOpen(now, isUnderWay: false, epoch)
      changes.append(Change(part: part, status: .halfOpen))
    }
  }

  private func isTooMuch(_ own: Own, _ now: MonotonicInstant) -> Bool {
    if own.gatewayErrors >= consecutive { return true }
    let (total, failed) = own.window.counts(at: now)
    return total >= max(1, policy.minimumExchanges) && Double(failed) >= policy.failureRatio * Double(total)
  }

  private func isIdle(_ own: Own, _ now: MonotonicInstant) -> Bool {
    own.window.counts(at: now).total == 0 && own.circuit.isIdle(at: now, policy)
  }

  // MARK: Slots

  /// Returns the slot of a part's circuit, which is created if there is room; `nil` if the part has no circuit.
  private mutating func slot(of part: BreakerPart, at now: MonotonicInstant) -> Int? {
    if let lastSlot, slots[lastSlot].part == part { return lastSlot }
    guard part.hasCircuit else { return nil }
    lastSlot = index[part] ?? (hasRoom(now) ? keep(part, at: now) : nil)
    return lastSlot
  }

  /// Whether there is room for a circuit after the removal of idle circuits.
  private mutating func hasRoom(_ now: MonotonicInstant) -> Bool {
    if index.count < Self.maximumParts { return true }
    guard now >= nextSweep else { return false }
    nextSweep = now.advanced(by: max(policy.window, .milliseconds(10)) / 10)
    for slot in slots.indices where slots[slot].part != nil && isIdle(slots[slot], now) { drop(slot) }
    return index.count < Self.maximumParts
  }

  private mutating func keep(_ part: BreakerPart, at now: MonotonicInstant) -> Int {
    let own = made(part, at: now)
    let slot = index.count < slots.count ? slots.firstIndex { $0.part == nil } : nil
    if let slot { slots[slot] = own } else { slots.append(own) }
    index[part] = slot ?? slots.count - 1
    return slot ?? slots.count - 1
  }

  private mutating func drop(_ slot: Int) {
    guard let part = slots[slot].part else { return }
    index[part] = nil
    // The new epoch prevents exchanges in flight from affecting the slot.
    let free = made(nil, at: MonotonicInstant(sinceStart: .zero))
    slots[slot] = free
  }

  private mutating func made(_ part: BreakerPart?, at now: MonotonicInstant) -> Own {
    Own(
      part: part, circuit: BreakerCircuit(since: now, epoch: nextEpoch()), window: BreakerWindow(policy.window))
  }
}

/// The part of an origin to which an exchange belongs.
enum BreakerPart: Hashable, Sendable {
  /// The circuit of an endpoint.
  case endpoint(method: String, template: String)
  /// The circuit of a group, instead of the circuits of its endpoints.
  case group(String)
  /// No circuit except the origin's. The string distinguishes endpoints in a run of failures.
  case other(String)

  /// Whether the part has a circuit of its own.
  var hasCircuit: Bool {
    if case .other = self { return false }
    return true
  }
}

/// One circuit. A pure value.
private struct BreakerCircuit {
  enum Phase {
    case closed(since: MonotonicInstant)
    case open(until: MonotonicInstant)
    /// The start of the latest trial, and whether that trial is still in flight.
    case halfOpen(MonotonicInstant, isUnderWay: Bool)
  }

  /// An instant, and a random number from 0 to 1.
  typealias Moment = (now: MonotonicInstant, jitter: Double)

  enum Verdict {
    case pass
    case trial
    case refuse(Duration?)
  }

  private(set) var phase: Phase
  private(set) var epoch: UInt64
  /// The instant at which the circuit last opened.
  private(set) var opened = MonotonicInstant(sinceStart: .zero)
  /// The failure that opened the circuit.
  private(set) var cause: FailedAttempt.Cause?
  /// The number of times that the circuit opened without a healthy time in between.
  private var strength = 0
  /// The end of the delay that the server requested.
  private var retryInstant: MonotonicInstant?

  /// Creates a closed circuit.
  init(since now: MonotonicInstant, epoch: UInt64) {
    phase = .closed(since: now)
    self.epoch = epoch
  }

  var status: BreakerStatus {
    switch phase {
    case .closed: .closed
    case .open(let until): .open(until: until)
    case .halfOpen: .halfOpen
    }
  }

  var isClosed: Bool {
    if case .closed = phase { return true }
    return false
  }

  /// Whether the circuit is open, even if its open time has passed.
  var isOpen: Bool {
    if case .open = phase { return true }
    return false
  }

  /// Returns the decision on a new exchange.
  func verdict(at now: MonotonicInstant, _ policy: BreakerPolicy) -> Verdict {
    switch phase {
    case .closed: return .pass
    case .open(let until): return now < until ? .refuse(now.duration(to: until)) : .trial
    case .halfOpen(let since, let isUnderWay):
      // A trial that never ends must not keep the circuit open forever.
      return isUnderWay && now < since.advanced(by: Self.longest(policy)) ? .refuse(nil) : .trial
    }
  }

  /// Whether all records are outdated, so that the circuit equals a new circuit.
  func isIdle(at now: MonotonicInstant, _ policy: BreakerPolicy) -> Bool {
    switch phase {
    case .closed(let since): strength <= Self.healthyIntervals(since, now, policy)
    // A trial would have been due long ago.
    case .open(let until): until.advanced(by: Self.longest(policy)) <= now
    case .halfOpen(let since, _): since.advanced(by: Self.longest(policy) * 2) <= now
    }
  }

  // MARK: Changes

  /// Sets the status to half-open: a trial begins now, or with the next exchange.
  mutating func halfOpen(_ now: MonotonicInstant, isUnderWay: Bool, _ epoch: UInt64) {
    (phase, self.epoch) = (.halfOpen(now, isUnderWay: isUnderWay), epoch)
  }

  /// Ends a trial without a result: the next exchange is a trial.
  mutating func abandonTrial() {
    if case .halfOpen(let since, _) = phase { phase = .halfOpen(since, isUnderWay: false) }
  }

  mutating func close(_ now: MonotonicInstant, _ epoch: UInt64) {
    (phase, self.epoch, retryInstant, cause) = (.closed(since: now), epoch, nil, nil)
  }

  /// Opens the circuit for the policy's ``BreakerPolicy/openDuration``, or for twice that time after a failed trial.
  /// Only the server can request a longer time.
  mutating func openBriefly(
    _ cause: FailedAttempt.Cause, _ moment: Moment, _ epoch: UInt64, _ policy: BreakerPolicy
  ) {
    strength = isClosed ? 0 : 1
    open(cause, moment, epoch, policy)
  }

  mutating func open(_ cause: FailedAttempt.Cause, _ moment: Moment, _ epoch: UInt64, _ policy: BreakerPolicy) {
    let now = moment.now
    if case .closed(let since) = phase { strength = max(0, strength - Self.healthyIntervals(since, now, policy)) }
    let time = openingTime(now, moment.jitter, policy)
    strength = min(strength + 1, 20)
    (phase, self.epoch, retryInstant) = (.open(until: now.advanced(by: time)), epoch, nil)
    (opened, self.cause) = (now, cause)
  }

  /// Records the delay that the server requested.
  mutating func recordDelay(_ delay: Duration?, at now: MonotonicInstant, _ policy: BreakerPolicy) {
    guard let delay else { return }
    let until = now.advanced(by: min(delay, Self.longest(policy)))
    retryInstant = retryInstant.map { max($0, until) } ?? until
  }

  /// Discards the delay that the server requested.
  mutating func forgetDelay() {
    retryInstant = nil
  }

  // MARK: Times

  /// Returns the time for which the circuit stays open. If the server requested a delay, this is the delay, at least a
  /// second, plus up to a tenth. Without such a delay it is twice the previous time, plus up to a fifth. It never
  /// exceeds the policy's maximum.
  private func openingTime(_ now: MonotonicInstant, _ jitter: Double, _ policy: BreakerPolicy) -> Duration {
    let limit = Self.longest(policy)
    if let retryInstant, retryInstant >= now {
      return min(limit, max(.seconds(1), now.duration(to: retryInstant)) * (1 + 0.1 * jitter))
    }
    // Reserves room for the jitter, so that the longest times differ as well.
    let longest = limit * 5 / 6
    var time = max(.zero, policy.openDuration)
    for _ in 0..<strength where time < longest { time = time * 2 }
    return min(limit, min(time, longest) * (1 + 0.2 * jitter))
  }

  /// Returns the maximum time for which a circuit stays open. A negative time counts as zero.
  private static func longest(_ policy: BreakerPolicy) -> Duration { max(.zero, policy.maximumOpenDuration) }

  /// Returns the number of windows that have passed since the circuit closed.
  private static func healthyIntervals(
    _ since: MonotonicInstant, _ now: MonotonicInstant, _ policy: BreakerPolicy
  ) -> Int {
    Int(min(max(since.duration(to: now) / max(policy.window, .milliseconds(10)), 0), 1000))
  }
}

/// A sliding window of ten buckets that counts exchanges and failures. A pure value.
private struct BreakerWindow: Hashable {
  private struct Bucket: Hashable {
    var total = 0
    var failed = 0
  }

  private static let count = 10

  private let width: Duration
  private var buckets = [Bucket](repeating: Bucket(), count: Self.count)
  /// The number of the newest bucket, counted from the clock's start.
  private var newest: Int64 = 0
  /// The end of the newest bucket.
  private var end: MonotonicInstant

  init(_ window: Duration) {
    width = max(window / Self.count, .milliseconds(1))
    end = MonotonicInstant(sinceStart: width)
  }

  /// Returns the number of exchanges and the number of failed exchanges in the window.
  func counts(at now: MonotonicInstant) -> (total: Int, failed: Int) {
    var copy = self
    copy.roll(to: now)
    return copy.buckets.reduce((0, 0)) { ($0.0 + $1.total, $0.1 + $1.failed) }
  }

  mutating func add(isFailure: Bool, at now: MonotonicInstant) {
    roll(to: now)
    let index = Int(newest % Int64(Self.count))
    buckets[index].total += 1
    if isFailure { buckets[index].failed += 1 }
  }

  mutating func clear() {
    buckets = [Bucket](repeating: Bucket(), count: Self.count)
  }

  /// Discards the buckets that have left the window.
  private mutating func roll(to now: MonotonicInstant) {
    // Avoids the division below, which costs more than the rest of the function.
    guard now >= end else { return }
    // Clamped, because an extreme instant of a clock must not trap.
    let step = Int64(min(max(now.sinceStart / width, 0), 1e15))
    guard step > newest else { return }
    if step - newest >= Int64(Self.count) {
      clear()
    } else {
      for passed in (newest + 1)...step { buckets[Int(passed % Int64(Self.count))] = Bucket() }
    }
    newest = step
    end = MonotonicInstant(sinceStart: width * (step + 1))
  }
}
