import Apus
import Synchronization

/// The calls of some clients that are on the way, told by their events: what an app would show of them.
final class LiveList: CallObserver {
  /// Where a call is.
  enum Place: String, Sendable {
    case waits
    case runs
    /// It waits for its next attempt.
    case pauses
  }

  /// Clients count their calls each by itself: where they go tells them apart.
  fileprivate struct Key: Hashable {
    let url: String
    let serial: UInt64

    init(_ call: CallEntry) {
      (url, serial) = (call.urlTemplate, call.serial)
    }
  }

  fileprivate struct Item {
    let key: Key
    let endpoint: String
    var place: Place

    var line: String {
      place.rawValue + String(repeating: " ", count: max(1, 8 - place.rawValue.count)) + endpoint
    }
  }

  fileprivate struct State {
    /// Those that came first ahead.
    var items: [Item] = []
    var done = 0
    /// The first call of each endpoint, whose changes are told one by one.
    var firsts: [String: Key] = [:]
    var news: [String] = []
  }

  /// Whenever something has changed; changes that nobody has looked at yet count as one.
  let changes: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  init() {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    changes = stream
    changed = continuation
  }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    let (key, endpoint) = (Key(call), "\(call.endpoint)")
    state.withLock { state in
      switch event.kind {
      case .queued: state.move(key, endpoint, to: .waits)
      case .exchangeStarted: state.move(key, endpoint, to: .runs)
      case .attemptFailed(let attempt):
        if case .again = attempt.decision { state.move(key, endpoint, to: .pauses) }
      case .succeeded: state.end(key, endpoint, "is done")
      case .failed(let code): state.end(key, endpoint, "fails, \(code)")
      default: break
      }
    }
    changed.yield()
  }

  /// How many wait, for whatever it is, run and have ended.
  var counts: (waiting: Int, running: Int, done: Int) {
    state.withLock { $0.counts }
  }

  /// The list in a line: its counts.
  var line: String { state.withLock { $0.line } }

  /// The list: its counts, then a line for each call, those that run ahead of those that wait.
  ///
  /// - Parameter most: calls have no more lines than this; another one says how many are left out.
  func lines(most: Int = 12) -> [String] {
    state.withLock { state in
      let running = state.items.filter { $0.place == .runs }
      let all = running + state.items.filter { $0.place != .runs }
      let shown = all.prefix(most).map(\.line)
      return [state.line] + shown + (all.count > most ? ["… and \(all.count - most) more"] : [])
    }
  }

  /// What has become of the first call of each endpoint since this was asked last.
  func takeNews() -> [String] {
    state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }
}

extension LiveList.State {
  fileprivate var counts: (waiting: Int, running: Int, done: Int) {
    let running = items.count { $0.place == .runs }
    return (items.count - running, running, done)
  }

  fileprivate var line: String {
    let (waiting, running, done) = counts
    let bar = Stage.bar(done, of: done + running + waiting)
    return "\(bar)  \(waiting) wait, \(running) run, \(done) are done"
  }

  fileprivate mutating func move(_ key: LiveList.Key, _ endpoint: String, to place: LiveList.Place) {
    if let index = items.firstIndex(where: { $0.key == key }) {
      guard items[index].place != place else { return }
      items[index].place = place
    } else {
      items.append(LiveList.Item(key: key, endpoint: endpoint, place: place))
    }
    tell(key, endpoint, place.rawValue)
  }

  fileprivate mutating func end(_ key: LiveList.Key, _ endpoint: String, _ text: String) {
    items.removeAll { $0.key == key }
    done += 1
    tell(key, endpoint, text)
  }

  private mutating func tell(_ key: LiveList.Key, _ endpoint: String, _ text: String) {
    if firsts[endpoint] == nil { firsts[endpoint] = key }
    if firsts[endpoint] == key { news.append("\(endpoint) \(text)") }
  }
}
