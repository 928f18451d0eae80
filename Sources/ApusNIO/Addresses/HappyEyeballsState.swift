import ApusCore

/// The order and pace in which a host's addresses are tried (RFC 8305 §4, §5). A pure state machine.
///
/// Each attempt starts a fixed delay after the previous attempt, which may still be under way. A failure starts the
/// next attempt immediately. The first success wins, and the other attempts are closed.
struct HappyEyeballsState<Address: Hashable & Sendable, Failure: Sendable>: Sendable {
  /// The actions to perform, in this order.
  enum Action {
    /// Connect to the address, then report ``HappyEyeballsState/succeeded(_:)`` or
    /// ``HappyEyeballsState/failed(_:_:now:)``.
    case connect(Address)
    /// Call ``HappyEyeballsState/waited(now:)`` at this instant. Earlier waits need not be cancelled.
    case wait(until: MonotonicInstant)
    /// Close the attempt, whether it is under way or has just succeeded.
    case close(Address)
    /// Use the connection to this address.
    case succeed(Address)
    /// Fail the race with the failures of all attempts, in order; empty if there was no address.
    case fail([(address: Address, failure: Failure)])
  }

  /// The delay before the next attempt starts. Default: 250 ms, as RFC 8305 §5 recommends.
  let delay: Duration
  private var untried: ArraySlice<Address>
  private var underWay: [Address] = []
  private var failures: [(address: Address, failure: Failure)] = []
  private var nextBegins: MonotonicInstant?
  private var isOver = false

  /// - Parameter addresses: the addresses in order of preference, as ``AddressOrder`` returns them. Duplicates are
  ///   tried once.
  init(_ addresses: [Address], delay: Duration = .milliseconds(250)) {
    var seen: Set<Address> = []
    untried = addresses.filter { seen.insert($0).inserted }[...]
    self.delay = delay
  }

  /// Starts the first attempt.
  mutating func start(now: MonotonicInstant) -> [Action] {
    guard !isOver, underWay.isEmpty, failures.isEmpty else { return [] }
    return tryNext(now: now)
  }

  /// Starts the next attempt at the instant of ``Action/wait(until:)``.
  mutating func waited(now: MonotonicInstant) -> [Action] {
    guard !isOver, let nextBegins, now >= nextBegins else { return [] }
    return tryNext(now: now)
  }

  /// Reports a successful attempt. Its connection is closed if another attempt won before or the race was
  /// cancelled.
  mutating func succeeded(_ address: Address) -> [Action] {
    guard !isOver, let index = underWay.firstIndex(of: address) else { return [.close(address)] }
    underWay.remove(at: index)
    return [.succeed(address)] + cancel()
  }

  /// Reports a failed attempt. The next attempt starts immediately.
  mutating func failed(_ address: Address, _ failure: Failure, now: MonotonicInstant) -> [Action] {
    guard !isOver, let index = underWay.firstIndex(of: address) else { return [] }
    underWay.remove(at: index)
    failures.append((address, failure))
    return tryNext(now: now)
  }

  /// Cancels the race and closes the attempts under way.
  mutating func cancel() -> [Action] {
    guard !isOver else { return [] }
    isOver = true
    nextBegins = nil
    untried = []
    defer { underWay = [] }
    return underWay.map { .close($0) }
  }

  private mutating func tryNext(now: MonotonicInstant) -> [Action] {
    nextBegins = nil
    guard let address = untried.popFirst() else {
      guard underWay.isEmpty else { return [] }
      isOver = true
      return [.fail(failures)]
    }
    underWay.append(address)
    guard !untried.isEmpty else { return [.connect(address)] }
    let next = now.advanced(by: delay)
    nextBegins = next
    return [.connect(address), .wait(until: next)]
  }
}

/// The order in which a host's addresses are tried.
enum AddressOrder {
  /// Returns the addresses alternately from IPv6 and IPv4, beginning with the family of the first address (RFC 8305
  /// §4). Within a family, the order of the resolver (RFC 6724) is preserved.
  static func interleaved<Address>(_ addresses: [Address], isIPv6: (Address) -> Bool) -> [Address] {
    guard let first = addresses.first else { return [] }
    let preference = isIPv6(first)
    let preferred = addresses.filter { isIPv6($0) == preference }
    let others = addresses.filter { isIPv6($0) != preference }
    var ordered: [Address] = []
    ordered.reserveCapacity(addresses.count)
    for index in 0..<max(preferred.count, others.count) {
      if index < preferred.count { ordered.append(preferred[index]) }
      if index < others.count { ordered.append(others[index]) }
    }
    return ordered
  }
}
