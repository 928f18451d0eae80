import Apus
import Synchronization

/// An observer that counts starts and ends of calls, and records the events that delayed or diverted them.
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

  /// The number of calls, including those that refresh credentials.
  var count: Int { state.withLock { $0.counts.count } }

  /// The serial numbers of calls that did not start and end exactly once.
  var odd: [UInt64] {
    state.withLock { state in
      state.counts.filter { $0.value != Count(starts: 1, ends: 1) }.map(\.key).sorted()
    }
  }

  /// The names of the events that delayed or diverted calls.
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
  /// The name of an event that delays or diverts a call; `nil` for other events.
  fileprivate var name: String? {
    switch self {
    case .coalesced: "joined"
    case .attemptFailed: "attempt failed"
    case .queued(let cause): "queued: \(cause)"
    case .awaitingCredentials: "awaits credentials"
    case .redirected: "redirected"
    case .note(let note, _): note.description
    default: nil
    }
  }

  /// Whether the call had to wait for other calls or for a time.
  var isWait: Bool {
    switch self {
    case .queued, .awaitingCredentials: true
    case .note(let note, _): note.description.hasPrefix("wait")
    default: false
    }
  }
}

/// A source of consecutive numbers.
final class Serials: Sendable {
  private let last = Mutex<UInt64>(0)

  func next() -> UInt64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
