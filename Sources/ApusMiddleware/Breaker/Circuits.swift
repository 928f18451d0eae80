import ApusCore
import Synchronization

/// The circuits at one origin, shared by the calls that go there.
final class OriginCircuits: Sendable {
  let origin: Origin
  let state: Mutex<BreakerState>

  init(_ origin: Origin, _ policy: BreakerPolicy) {
    self.origin = origin
    state = Mutex(BreakerState(policy))
  }
}

/// The circuits of a breaker, by origin. Origins that know nothing of late are dropped when there are many.
struct Circuits {
  /// So many are always kept.
  private static let fewest = 256

  private var origins: [OriginKey: OriginCircuits] = [:]
  /// The last that was asked for, which is most often the next: it need not be looked up.
  private var last: (key: OriginKey, circuits: OriginCircuits)?
  /// Above this many they are looked through, which is seldom enough to cost little for each that is added.
  private var sweepCount = fewest

  var all: [OriginCircuits] { Array(origins.values) }

  mutating func circuits(_ key: OriginKey) -> OriginCircuits? {
    if let last, last.key == key { return last.circuits }
    guard let circuits = origins[key] else { return nil }
    last = (key, circuits)
    return circuits
  }

  /// Adds those of an origin.
  ///
  /// - Parameter now: `nil`: the present is not known, and none is dropped.
  mutating func insert(_ circuits: OriginCircuits, _ key: OriginKey, at now: MonotonicInstant?) {
    if let now, origins.count >= sweepCount {
      last = nil
      origins = origins.filter { !$0.value.state.withLock { $0.isIdle(at: now) } }
      sweepCount = max(Self.fewest, origins.count * 2)
    }
    origins[key] = circuits
  }
}
