import ApusCore
import Synchronization

/// One circuit, shared by the calls that pass it.
final class Circuit: Sendable {
  let scope: BreakerScope
  let state: Mutex<BreakerState>

  init(scope: BreakerScope, _ policy: BreakerPolicy) {
    self.scope = scope
    state = Mutex(BreakerState(policy))
  }

  var status: BreakerStatus { state.withLock { $0.status } }
}

/// The circuits of a breaker. Those that know nothing of late are dropped when there are many.
struct Circuits {
  /// So many are always kept.
  private static let fewest = 256

  private var circuits: [CircuitBreaker.Key: Circuit] = [:]
  /// The last that was asked for, which is most often the next: it need not be looked up.
  private var last: (key: CircuitBreaker.Key, circuit: Circuit)?
  /// Above this many they are looked through, which is seldom enough to cost little for each that is added.
  private var sweepCount = fewest

  var all: [Circuit] { Array(circuits.values) }

  mutating func circuit(_ key: CircuitBreaker.Key) -> Circuit? {
    if let last, last.key == key { return last.circuit }
    guard let circuit = circuits[key] else { return nil }
    last = (key, circuit)
    return circuit
  }

  /// Adds one.
  ///
  /// - Parameter now: `nil`: the present is not known, and none is dropped.
  mutating func insert(_ circuit: Circuit, _ key: CircuitBreaker.Key, at now: MonotonicInstant?) {
    if let now, circuits.count >= sweepCount {
      last = nil
      circuits = circuits.filter { !$0.value.state.withLock { $0.isIdle(at: now) } }
      sweepCount = max(Self.fewest, circuits.count * 2)
    }
    circuits[key] = circuit
  }
}
