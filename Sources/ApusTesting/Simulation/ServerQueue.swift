/// Who a server works for and who waits for it: pure.
struct ServerQueue: Sendable {
  enum Arrival: Sendable, Hashable {
    /// The server works on it from now on.
    case starts
    /// It waits.
    case waits
    /// There is no place for it.
    case refused
  }

  private(set) var capacity: Int
  private(set) var places: Int
  private(set) var busy = 0
  /// Those who wait, those who came first ahead.
  private(set) var waiting: [UInt64] = []

  init(capacity: Int, places: Int) {
    self.capacity = capacity
    self.places = places
  }

  /// A request is there.
  mutating func arrive(_ ticket: UInt64) -> Arrival {
    if busy < capacity {
      busy += 1
      return .starts
    }
    guard waiting.count < places else { return .refused }
    waiting.append(ticket)
    return .waits
  }

  /// The work on a request is done. Answers whose begins.
  mutating func finish() -> [UInt64] {
    busy -= 1
    return startWaiting()
  }

  /// Whoever sent a request has gone. Answers whether it waited, and now does no more.
  mutating func leave(_ ticket: UInt64) -> Bool {
    guard let index = waiting.firstIndex(of: ticket) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// The server changes: what it works on it finishes, and who waits keeps the place. Answers whose work begins.
  mutating func resize(capacity: Int, places: Int) -> [UInt64] {
    self.capacity = capacity
    self.places = places
    return startWaiting()
  }

  private mutating func startWaiting() -> [UInt64] {
    let count = min(waiting.count, max(0, capacity - busy))
    defer { waiting.removeFirst(count) }
    busy += count
    return Array(waiting.prefix(count))
  }
}
