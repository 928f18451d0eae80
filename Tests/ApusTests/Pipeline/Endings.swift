import Apus
import Synchronization

/// Counts how calls begin and end, and notes what they met on their way.
final class Endings: CallObserver {
  private struct Count: Equatable {
    var starts = 0
    var ends = 0
  }

  private struct State {
    var counts: [UInt64: Count] = [:]
    var met: Set<String> = []
  }

  private let state = Mutex(State())

  /// How many calls there have been, those included that refresh credentials.
  var count: Int { state.withLock { $0.counts.count } }

  /// The numbers of calls that did not begin once and end once.
  var odd: [UInt64] {
    state.withLock { state in
      state.counts.filter { $0.value != Count(starts: 1, ends: 1) }.map(\.key).sorted()
    }
  }

  /// What held calls up or sent them on another way, by name.
  var met: Set<String> { state.withLock { $0.met } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    let name = event.kind.name
    state.withLock { state in
      switch event.kind {
      case .started: state.counts[call.serial, default: Count()].starts += 1
      case .succeeded, .failed: state.counts[call.serial, default: Count()].ends += 1
      default: break
      }
      if let name { state.met.insert(name) }
    }
  }
}

extension TraceEvent.Kind {
  /// A name for what holds a call up or sends it on another way; `nil` for the rest.
  fileprivate var name: String? {
    switch self {
    case .joined: "joined"
    case .attemptFailed: "attempt failed"
    case .queued(let cause): "queued: \(cause)"
    case .awaitingCredentials: "awaits credentials"
    case .redirected: "redirected"
    case .note(let note, _): note.description
    default: nil
    }
  }

  /// Whether the call had to wait for others, or for a time to come.
  var isWait: Bool {
    switch self {
    case .queued, .awaitingCredentials: true
    case .note(let note, _): note.description.hasPrefix("wait")
    default: false
    }
  }
}

/// Numbers, one after the other.
final class Serials: Sendable {
  private let last = Mutex<UInt64>(0)

  func next() -> UInt64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
