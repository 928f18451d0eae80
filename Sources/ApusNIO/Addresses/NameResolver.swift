import ApusCore
import NIOCore
import NIOPosix
import Synchronization

/// A resolver of host names with threads of its own, because the system's call blocks until name servers respond.
///
/// File reads and other blocking work use other threads, so slow lookups delay only other lookups, and only while they
/// occupy every thread.
final class NameResolver: Sendable {
  /// A blocking function that resolves a name to addresses. The ports of the addresses are ignored. Throws a
  /// `TransportError`.
  typealias Search = @Sendable (String) throws -> [SocketAddress]

  private struct State {
    var queue: LookupQueue<UInt64>
    var promises: [UInt64: EventLoopPromise<[SocketAddress]>] = [:]
    var nextID: UInt64 = 0
  }

  /// Resolves with the system's resolver.
  static let system = NameResolver { try AddressLookup.search(for: $0) }

  /// The maximum number of names resolved concurrently in the whole process.
  static let width = 8
  /// The maximum number of names that wait for a thread.
  static let waitingLimit = 256

  /// The threads, started by the first lookup.
  private static let threads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: width)
    threads.start()
    return threads
  }()

  private let search: Search
  private let state: Mutex<State>

  init(width: Int = NameResolver.width, waiting limit: Int = NameResolver.waitingLimit, search: @escaping Search) {
    self.search = search
    state = Mutex(State(queue: LookupQueue(width: width, limit: limit)))
  }

  /// The number of names being resolved, the number of queued names, and the number of callers that wait for these
  /// names.
  var load: (running: Int, waiting: Int, callers: Int) {
    state.withLock { ($0.queue.running, $0.queue.waiting, $0.promises.count) }
  }

  /// A handle to a lookup in progress.
  struct Lookup {
    fileprivate let id: UInt64
    fileprivate let name: String
    /// Succeeds with at least one address. Fails with a `TransportError`, or with a `CancellationError` after
    /// ``NameResolver/cancel(_:)``.
    let addresses: EventLoopFuture<[SocketAddress]>
  }

  /// Starts to resolve a name. The addresses come in the order in which the system would try them (RFC 6724).
  func lookUp(_ name: String, on loop: any EventLoop) -> Lookup {
    let promise = loop.makePromise(of: [SocketAddress].self)
    let (id, entry) = state.withLock { state in
      state.nextID += 1
      let entry = state.queue.enter(state.nextID, for: name)
      if entry != .refuse { state.promises[state.nextID] = promise }
      return (state.nextID, entry)
    }
    switch entry {
    case .run: resolve(name)
    case .wait: break
    case .refuse:
      promise.fail(
        TransportError(
          .refused, requestState: .notSent,
          detail: "too many host names wait to be resolved: \(name) is refused"
        ).attributed(to: .trafficControl))
    }
    return Lookup(id: id, name: name, addresses: promise.futureResult)
  }

  /// Cancels a lookup for its caller; other callers of the same name still get their result.
  func cancel(_ lookup: Lookup) {
    let promise = state.withLock { state in
      state.queue.leave(lookup.id, for: lookup.name) ? state.promises.removeValue(forKey: lookup.id) : nil
    }
    promise?.fail(CancellationError())
  }

  private func resolve(_ name: String) {
    Self.threads.submit { [self] _ in
      let result = Result { try search(name) }
      let (promises, next) = state.withLock { state in
        let (waiters, next) = state.queue.finished(name)
        return (waiters.compactMap { state.promises.removeValue(forKey: $0) }, next)
      }
      if let next { resolve(next) }
      for promise in promises { promise.completeWith(result) }
    }
  }
}

/// The names being resolved, the queued names, and the callers of each name. A pure state machine; ``NameResolver``
/// runs the lookups.
///
/// Callers of one name share one lookup. A running lookup cannot be stopped and occupies its thread until it ends. A
/// queued name leaves the queue with its last caller.
struct LookupQueue<WaiterID: Hashable & Sendable>: Sendable {
  /// The action for a new caller.
  enum Entry: Equatable {
    /// Resolve the name now.
    case run
    /// Wait: the name is being resolved, or queued.
    case wait
    /// Refuse: the queue is full.
    case refuse
  }

  private struct Name {
    var waiters: [WaiterID]
    var isRunning: Bool
  }

  /// The maximum number of names resolved concurrently.
  let width: Int
  /// The maximum number of queued names.
  let limit: Int
  private var names: [String: Name] = [:]
  private var queue = RemovableQueue<String>()
  private(set) var running = 0

  init(width: Int, limit: Int) {
    (self.width, self.limit) = (max(1, width), limit)
  }

  /// The number of queued names.
  var waiting: Int { queue.count }

  /// Adds a caller that needs the addresses of a name.
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

  /// Removes a caller. Returns whether the caller was still waiting.
  mutating func leave(_ waiter: WaiterID, for name: String) -> Bool {
    guard let index = names[name]?.waiters.firstIndex(of: waiter) else { return false }
    names[name]?.waiters.remove(at: index)
    if let entry = names[name], entry.waiters.isEmpty, !entry.isRunning {
      names[name] = nil
      _ = queue.remove(name)
    }
    return true
  }

  /// Ends a lookup. Returns its callers, and the name to resolve next.
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
