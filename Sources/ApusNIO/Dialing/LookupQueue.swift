#if NIO
  /// Which names are looked up, which wait for that, and who waits for each: pure; ``NameResolver`` does what it answers.
  ///
  /// Callers of one name share one lookup. A lookup that runs cannot be stopped, and keeps its thread until it ends; a
  /// name for which nobody waits any more leaves the queue.
  struct LookupQueue<WaiterID: Hashable & Sendable>: Sendable {
    enum Entry: Equatable {
      /// The name is to be looked up now.
      case run
      /// It is being looked up, or will be.
      case wait
      /// Too many names wait.
      case refuse
    }

    private struct Name {
      var waiters: [WaiterID]
      var isRunning: Bool
    }

    /// How many names are looked up at a time.
    let width: Int
    /// How many names may wait for that.
    let limit: Int
    private var names: [String: Name] = [:]
    private var queue = WaiterQueue<String>()
    private(set) var running = 0

    init(width: Int, limit: Int) {
      (self.width, self.limit) = (max(1, width), limit)
    }

    /// How many names wait.
    var waiting: Int { queue.count }

    /// Somebody needs the addresses of a name.
    mutating func enter(_ waiter: WaiterID, for name: String) -> Entry {
      if names[name] != nil {
        names[name]?.waiters.append(waiter)
        return .wait
      }
      guard running >= width else {
        running += 1
        names[name] = Name(waiters: [waiter], isRunning: true)
        return .run
      }
      guard queue.count < limit else { return .refuse }
      names[name] = Name(waiters: [waiter], isRunning: false)
      queue.append(name)
      return .wait
    }

    /// Somebody does not need them any more; answers whether it still waited.
    mutating func leave(_ waiter: WaiterID, for name: String) -> Bool {
      guard let index = names[name]?.waiters.firstIndex(of: waiter) else { return false }
      names[name]?.waiters.remove(at: index)
      if let entry = names[name], entry.waiters.isEmpty, !entry.isRunning {
        names[name] = nil
        _ = queue.remove(name)
      }
      return true
    }

    /// A lookup has ended: who waited for it, and the name that is to be looked up next.
    mutating func finished(_ name: String) -> (waiters: [WaiterID], next: String?) {
      let waiters = names.removeValue(forKey: name)?.waiters ?? []
      guard let next = queue.popFirst() else {
        running -= 1
        return (waiters, nil)
      }
      names[next]?.isRunning = true
      return (waiters, next)
    }
  }
#endif
