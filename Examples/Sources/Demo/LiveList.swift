import Apus
import Synchronization

/// The calls in flight of one or more clients, collected from their events, as for an app's list of calls.
final class LiveList: CallObserver {
  /// The state of a call.
  enum Status: String, Sendable {
    case queued
    case running
    /// The call waits for its next attempt.
    case retrying
  }

  /// Identifies a call. Call numbers are unique only within a client, so the URL is part of the key.
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
    var status: Status

    var line: String { "\(status.rawValue.padded(to: 10))\(endpoint)" }
  }

  fileprivate struct State {
    /// The calls in order of arrival.
    var items: [Item] = []
    var done = 0
    /// The first call of each endpoint. Its changes are reported as news.
    var firsts: [String: Key] = [:]
    var news: [String] = []
  }

  /// A stream that yields after changes. Changes that were not yet observed are combined.
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
      case .queued: state.move(key, endpoint, to: .queued)
      case .exchangeStarted: state.move(key, endpoint, to: .running)
      case .attemptFailed(let attempt):
        if attempt.retryDelay != nil { state.move(key, endpoint, to: .retrying) }
      case .succeeded: state.end(key, endpoint, "succeeded")
      case .failed(let code): state.end(key, endpoint, "failed: \(code)")
      default: break
      }
    }
    changed.yield()
  }

  /// The numbers of calls that are waiting (in a queue or for a retry), running and done.
  var counts: (waiting: Int, running: Int, done: Int) {
    state.withLock { $0.counts }
  }

  /// The counts as a line with a progress bar.
  var line: String { state.withLock { $0.line } }

  /// Returns the counts, then a line for each call, running calls first.
  ///
  /// - Parameter maximum: the maximum number of calls; a last line counts the rest. Default: 12.
  func lines(maximum: Int = 12) -> [String] {
    state.withLock { state in
      let running = state.items.filter { $0.status == .running }
      let all = running + state.items.filter { $0.status != .running }
      let shown = all.prefix(maximum).map(\.line)
      return [state.line] + shown + (all.count > maximum ? ["… and \(all.count - maximum) more"] : [])
    }
  }

  /// Returns the changes of the first call of each endpoint since the last use of this function.
  func nextNews() -> [String] {
    state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }
}

extension LiveList.State {
  fileprivate var counts: (waiting: Int, running: Int, done: Int) {
    let running = items.count { $0.status == .running }
    return (items.count - running, running, done)
  }

  fileprivate var line: String {
    let (waiting, running, done) = counts
    let bar = Stage.bar(done, of: done + running + waiting)
    return "\(bar)  \(waiting) waiting, \(running) running, \(done) done"
  }

  fileprivate mutating func move(_ key: LiveList.Key, _ endpoint: String, to status: LiveList.Status) {
    if let index = items.firstIndex(where: { $0.key == key }) {
      guard items[index].status != status else { return }
      items[index].status = status
    } else {
      items.append(LiveList.Item(key: key, endpoint: endpoint, status: status))
    }
    addNews(key, endpoint, status.rawValue)
  }

  fileprivate mutating func end(_ key: LiveList.Key, _ endpoint: String, _ text: String) {
    items.removeAll { $0.key == key }
    done += 1
    addNews(key, endpoint, text)
  }

  private mutating func addNews(_ key: LiveList.Key, _ endpoint: String, _ text: String) {
    if firsts[endpoint] == nil { firsts[endpoint] = key }
    if firsts[endpoint] == key { news.append("\(endpoint) \(text)") }
  }
}

/// A live list on the stage, with other output above it. On a terminal the list is redrawn in place; otherwise its
/// news are printed as lines.
final class LiveBoard: Sendable {
  private let list: LiveList
  private let stage: Stage
  /// The number of lines on the screen. Locked during output, because scenes and events print concurrently.
  private let height = Mutex(0)

  init(_ list: LiveList, on stage: Stage) {
    self.list = list
    self.stage = stage
  }

  /// Draws the current list.
  func refresh() {
    height.withLock { draw(over: &$0) }
  }

  /// Draws the list after every change, until the task is cancelled.
  func follow() async {
    for await _ in list.changes { refresh() }
  }

  /// Prints a line above the list.
  func say(_ text: String) {
    height.withLock { height in
      clear(&height)
      stage.say(text)
      draw(over: &height)
    }
  }

  /// Replaces the list with its counts.
  func close() {
    height.withLock { height in
      clear(&height)
      stage.say(list.line)
    }
  }

  private func draw(over height: inout Int) {
    clear(&height)
    guard stage.isTerminal else { return }
    let lines = list.lines()
    for line in lines { stage.say(line) }
    height = lines.count
  }

  /// Erases the list. If the output is not a terminal, prints the news instead.
  private func clear(_ height: inout Int) {
    stage.erase(lines: height)
    height = 0
    let news = list.nextNews()
    guard !stage.isTerminal else { return }
    for line in news { stage.note(line) }
  }
}
