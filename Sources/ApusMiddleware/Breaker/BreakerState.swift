import ApusCore

/// The circuits of one origin: its own, and one for each endpoint or group that is called there. A pure state machine;
/// ``CircuitBreaker`` does what it returns.
///
/// An exchange passes where both its circuits let it, and counts for each of them in its own way: for the endpoint by
/// what the server answered, for the origin by whether the server was reached, and by gateway errors and timeouts in a
/// row from several endpoints. So an endpoint that fails on its own never opens the circuit of its origin.
///
/// An origin that was reached, and fails because it has too much to do, answers some requests and not others. Its circuit
/// opens for a short time only, and closes after ``fewestParts`` answered trials in a row, one after the other: one answer
/// says little, and a long time says nothing of when the load is gone.
///
/// Every change of a circuit begins an epoch of it; exchanges that began in an earlier one do not change it.
struct BreakerState {
  /// Lets an exchange through; its outcome is reported with it, once.
  struct Permit: Hashable {
    fileprivate let part: BreakerPart
    /// The epoch of the origin's circuit.
    fileprivate let epoch: UInt64
    /// The circuit of the endpoint or the group; `nil`: it has none.
    fileprivate let own: Place?
    /// Whether it is the exchange by which a circuit is closed again.
    let isTrial: Bool
    /// Whether the head of the response has been reported.
    fileprivate var hasResponse = false
  }

  /// Where a circuit is kept, and its epoch, by which another one in the same place is told from it.
  fileprivate struct Place: Hashable {
    var slot: Int
    var epoch: UInt64
  }

  /// Why an exchange does not pass.
  struct Refusal: Hashable {
    /// Whose circuit it is; `nil`: the origin's.
    let part: BreakerPart?
    /// How long the circuit stays open; `nil` where that is not known.
    let delay: Duration?
    /// The failure that opened it; `nil`: it was isolated.
    let cause: FailedAttempt.Cause?
  }

  /// A circuit that does something else from now on.
  struct Change: Hashable {
    /// Whose circuit it is; `nil`: the origin's.
    let part: BreakerPart?
    let status: BreakerStatus
  }

  enum Admission: Hashable {
    /// With the circuits that became half-open by it.
    case pass(Permit, [Change])
    case refuse(Refusal)
  }

  /// The circuit of an endpoint or a group, and what it counts.
  private struct Own {
    /// `nil`: the slot is free.
    var part: BreakerPart?
    var circuit: BreakerCircuit
    var window: BreakerWindow
    var gatewayErrors = 0
  }

  /// Failures in a row.
  private struct Run {
    var count = 0
    var first = MonotonicInstant(sinceStart: .zero)
    var last = MonotonicInstant(sinceStart: .zero)
    /// The different parts they are from, as far as it matters how many there are.
    var parts: [BreakerPart] = []

    mutating func add(_ part: BreakerPart, at now: MonotonicInstant) {
      if count == 0 { first = now }
      (count, last) = (count + 1, now)
      if parts.count < BreakerState.fewestParts, !parts.contains(part) { parts.append(part) }
    }
  }

  private typealias Moment = BreakerCircuit.Moment

  /// At most so many endpoints and groups have a circuit of their own; the others count for the origin only.
  static let mostParts = 256
  /// Failures in a row open the origin's circuit if they come from this many endpoints; this many answered trials close it.
  static let fewestParts = 3

  private let policy: BreakerPolicy
  private var origin = BreakerCircuit(since: MonotonicInstant(sinceStart: .zero), epoch: 0)
  private var unreachable = Run()
  private var failures = Run()
  /// The first of the failures that opened the origin's circuit.
  private var firstFailure = MonotonicInstant(sinceStart: .zero)
  /// Whose trial failed last since the origin's circuit opened.
  private var lastTrial: BreakerPart?
  /// How many more trials must be answered in a row for the origin's circuit to close.
  private var trialsToClose = 1
  private var slots: [Own] = []
  private var index: [BreakerPart: Int] = [:]
  /// The slot that was asked for last, which is often the next: it need not be looked up.
  private var lastSlot: Int?
  /// Before this instant it makes no sense to look for circuits that can be dropped.
  private var nextSweep = MonotonicInstant(sinceStart: .zero)
  private var lastEpoch: UInt64 = 0

  init(_ policy: BreakerPolicy) {
    self.policy = policy
  }

  /// What one circuit does; closed when it has never been used. `nil`: the origin's.
  func status(of part: BreakerPart?) -> BreakerStatus {
    guard let part else { return origin.status }
    return index[part].map { slots[$0].circuit.status } ?? .closed
  }

  /// What all circuits do.
  var statuses: [Change] {
    [Change(part: nil, status: origin.status)]
      + slots.compactMap { own in own.part.map { Change(part: $0, status: own.circuit.status) } }
  }

  /// Whether nothing of use would be lost if it began anew: all that it knows is old.
  func isIdle(at now: MonotonicInstant) -> Bool {
    let window = max(policy.window, .milliseconds(10))
    let isQuiet = [unreachable, failures].allSatisfy { $0.count == 0 || $0.last.advanced(by: window) <= now }
    return isQuiet && origin.isIdle(at: now, policy) && slots.allSatisfy { $0.part == nil || isIdle($0, now) }
  }

  // MARK: Exchanges

  /// Decides whether an exchange passes.
  mutating func admit(_ part: BreakerPart, at now: MonotonicInstant) -> Admission {
    var isTrial = false
    switch origin.verdict(at: now, policy) {
    case .pass: break
    case .trial: isTrial = true
    case .refuse(let delay): return .refuse(Refusal(part: nil, delay: delay, cause: origin.cause))
    }
    // Read in place: a copy of the slot retains its window.
    guard let slot = slot(of: part, at: now) else { return pass(part, (isTrial, false), nil, now) }
    let place = Place(slot: slot, epoch: slots[slot].circuit.epoch)
    switch slots[slot].circuit.verdict(at: now, policy) {
    case .pass: return pass(part, (isTrial, false), place, now)
    case .trial: return pass(part, (isTrial, true), place, now)
    // What opened with the origin's circuit is tried with it.
    case .refuse where isTrial && slots[slot].circuit.isOpen && slots[slot].circuit.opened >= firstFailure:
      return pass(part, (isTrial, true), place, now)
    case .refuse(let delay):
      return .refuse(Refusal(part: part, delay: delay, cause: slots[slot].circuit.cause))
    }
  }

  /// The head of a response that is no failure is there, and its content is on its way: its sender was reached.
  mutating func responded(_ permit: inout Permit) {
    permit.hasResponse = true
    guard permit.epoch == origin.epoch, origin.isClosed else { return }
    (unreachable, failures) = (Run(), Run())
    origin.forgetDelay()
  }

  /// Counts an exchange that is over.
  ///
  /// - Parameter jitter: a random number from 0 to 1, so that many clients do not come back at the same moment.
  /// - Returns: the circuits that do something else from now on.
  mutating func end(
    _ permit: Permit, _ outcome: BreakerOutcome, at now: MonotonicInstant, jitter: Double
  ) -> [Change] {
    var changes: [Change] = []
    if let own = permit.own { endOwn(own, outcome, (now, jitter), &changes) }
    if permit.epoch == origin.epoch { endOrigin(permit, outcome, (now, jitter), &changes) }
    return changes
  }

  // MARK: By hand

  /// Refuses everything until ``reset(_:at:)``. `nil`: at the whole origin.
  mutating func isolate(_ part: BreakerPart?, at now: MonotonicInstant) {
    let epoch = nextEpoch()
    guard let part else { return origin.isolate(epoch) }
    // Beyond the limit, too: an app that does this by hand does not do it often.
    let slot = index[part] ?? keep(part, at: now)
    slots[slot].circuit.isolate(epoch)
  }

  /// Closes a circuit and forgets what it knew. `nil`: the origin's, and all below that nobody isolated.
  mutating func reset(_ part: BreakerPart?, at now: MonotonicInstant) {
    guard let part else {
      for slot in slots.indices where slots[slot].circuit.status != .isolated { drop(slot) }
      let epoch = nextEpoch()
      origin = BreakerCircuit(since: now, epoch: epoch)
      (unreachable, failures, lastTrial) = (Run(), Run(), nil)
      return
    }
    guard let slot = index[part] else { return }
    let own = made(part, at: now)
    slots[slot] = own
  }

  // MARK: Steps of an exchange

  private mutating func pass(
    _ part: BreakerPart, _ isTrial: (ofOrigin: Bool, ofPart: Bool), _ own: Place?, _ now: MonotonicInstant
  ) -> Admission {
    var (own, changes): (Place?, [Change]) = (own, [])
    if isTrial.ofOrigin {
      let epoch = nextEpoch()
      origin.halfOpen(now, isUnderWay: true, epoch)
      changes.append(Change(part: nil, status: .halfOpen))
    }
    if isTrial.ofPart, let slot = own?.slot {
      let epoch = nextEpoch()
      own = Place(slot: slot, epoch: epoch)
      slots[slot].circuit.halfOpen(now, isUnderWay: true, epoch)
      changes.append(Change(part: part, status: .halfOpen))
    }
    let isAny = isTrial.ofOrigin || isTrial.ofPart
    return .pass(Permit(part: part, epoch: origin.epoch, own: own, isTrial: isAny), changes)
  }

  private mutating func endOwn(
    _ place: Place, _ outcome: BreakerOutcome, _ moment: Moment, _ changes: inout [Change]
  ) {
    guard place.slot < slots.count, slots[place.slot].circuit.epoch == place.epoch else { return }
    if case .answered = outcome, slots[place.slot].circuit.isClosed {
      slots[place.slot].window.add(isFailure: false, at: moment.now)
      slots[place.slot].gatewayErrors = 0
      return
    }
    var own = slots[place.slot]
    defer { slots[place.slot] = own }
    switch (own.circuit.phase, outcome) {
    case (.closed, .failed(let failure, let cause, let asked)):
      own.circuit.note(asked, at: moment.now, policy)
      own.window.add(isFailure: true, at: moment.now)
      own.gatewayErrors = failure == .gateway ? own.gatewayErrors + 1 : 0
      guard isTooMuch(own, moment.now) else { return }
      open(&own, cause, moment)
    case (.halfOpen, .failed(_, let cause, let asked)):
      own.circuit.note(asked, at: moment.now, policy)
      open(&own, cause, moment)
    case (.halfOpen, .answered): own.circuit.close(moment.now, nextEpoch())
    case (.halfOpen, _): return own.circuit.abandonTrial()
    case (.closed, _), (.open, _), (.isolated, _): return
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
    case .open, .isolated: return
    }
  }

  /// Counts for the origin; returns the failure by which its circuit opens.
  private mutating func count(
    _ outcome: BreakerOutcome, of permit: Permit, at now: MonotonicInstant
  ) -> FailedAttempt.Cause? {
    // Where the head has been reported it has counted when it came.
    if outcome.hasResponse, !permit.hasResponse { unreachable = Run() }
    switch outcome {
    case .answered where permit.hasResponse: return nil
    case .answered:
      failures = Run()
      origin.forgetDelay()
    case .unreachable(let cause):
      unreachable.add(permit.part, at: now)
      if unreachable.count >= consecutive { return cause }
    case .failed(.gateway, let cause, let asked), .failed(.timeout, let cause, let asked):
      origin.note(asked, at: now, policy)
      failures.add(permit.part, at: now)
      if failures.count >= consecutive, failures.parts.count >= Self.fewestParts { return cause }
    case .failed(.status, _, _), .failed(.reset, _, _), .nothing: break
    }
    return nil
  }

  private mutating func endTrial(
    _ permit: Permit, _ outcome: BreakerOutcome, _ moment: Moment, _ changes: inout [Change]
  ) {
    switch outcome {
    // An application that fails by itself was reached.
    case .answered, .failed(.status, _, _):
      trialsToClose -= 1
      guard trialsToClose <= 0 else { return origin.abandonTrial() }
      closeOrigin(after: permit, moment.now, &changes)
    case .unreachable(let cause):
      lastTrial = nil
      openOrigin(cause, moment, isReached: false, &changes)
    // An endpoint that fails on its own must not keep the others out: its second failure in a row proves nothing more.
    case .failed where permit.own != nil && permit.part == lastTrial: origin.abandonTrial()
    case .failed(_, let cause, let asked):
      lastTrial = permit.part
      origin.note(asked, at: moment.now, policy)
      openOrigin(cause, moment, isReached: true, &changes)
    case .nothing: origin.abandonTrial()
    }
  }

  // MARK: Circuits

  private var consecutive: Int { max(1, policy.consecutive) }

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
    trialsToClose = isReached ? Self.fewestParts : 1
    if isReached { origin.openBriefly(cause, moment, epoch, policy) } else { origin.open(cause, moment, epoch, policy) }
    (unreachable, failures) = (Run(), Run())
    changes.append(Change(part: nil, status: origin.status))
  }

  /// What opened with the origin's circuit is tried at once, but for what the trial itself has opened again.
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
    return total >= max(1, policy.minimum) && Double(failed) >= policy.ratio * Double(total)
  }

  private func isIdle(_ own: Own, _ now: MonotonicInstant) -> Bool {
    own.window.counts(at: now).total == 0 && own.circuit.isIdle(at: now, policy)
  }

  // MARK: Slots

  /// The slot of an endpoint's or a group's circuit, which is made where there is room.
  private mutating func slot(of part: BreakerPart, at now: MonotonicInstant) -> Int? {
    if let lastSlot, slots[lastSlot].part == part { return lastSlot }
    guard part.hasCircuit else { return nil }
    lastSlot = index[part] ?? (hasRoom(now) ? keep(part, at: now) : nil)
    return lastSlot
  }

  /// Whether there may be one more circuit. Those that know nothing of late are dropped for it.
  private mutating func hasRoom(_ now: MonotonicInstant) -> Bool {
    if index.count < Self.mostParts { return true }
    guard now >= nextSweep else { return false }
    nextSweep = now.advanced(by: max(policy.window, .milliseconds(10)) / 10)
    for slot in slots.indices where slots[slot].part != nil && isIdle(slots[slot], now) { drop(slot) }
    return index.count < Self.mostParts
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
    // An epoch that no exchange has: what was under way changes nothing any more.
    let free = made(nil, at: MonotonicInstant(sinceStart: .zero))
    slots[slot] = free
  }

  private mutating func made(_ part: BreakerPart?, at now: MonotonicInstant) -> Own {
    Own(
      part: part, circuit: BreakerCircuit(since: now, epoch: nextEpoch()), window: BreakerWindow(policy.window))
  }
}
