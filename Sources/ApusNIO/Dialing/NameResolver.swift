#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix
  import Synchronization

  /// Finds the addresses of names, on threads of its own: the system's call blocks, for as long as name servers do not
  /// answer.
  ///
  /// Reading files and everything else that blocks has other threads, so that names that do not resolve hold up nothing
  /// but other names, and those only while all threads are taken by such names.
  final class NameResolver: Sendable {
    /// Finds the addresses of a name, with any port; blocks. Throws a ``TransportError``.
    typealias Search = @Sendable (String) throws -> [SocketAddress]

    private struct State {
      var queue: LookupQueue<UInt64>
      var promises: [UInt64: EventLoopPromise<[SocketAddress]>] = [:]
      var nextID: UInt64 = 0
    }

    /// Asks the system.
    static let system = NameResolver { try AddressLookup.search(for: $0) }

    /// How many names are looked up at a time, in the whole process.
    static let width = 8
    /// How many names may wait for that.
    static let waitingLimit = 256

    /// Begun by the first lookup.
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

    /// How many names are being looked up, how many wait for it, and how many callers wait for any of them.
    var load: (running: Int, waiting: Int, callers: Int) {
      state.withLock { ($0.queue.running, $0.queue.waiting, $0.promises.count) }
    }

    /// A lookup that somebody waits for.
    struct Lookup {
      fileprivate let id: UInt64
      fileprivate let name: String
      /// Succeeds with at least one address, or fails with a ``TransportError``; with a `CancellationError` where it was
      /// given up.
      let addresses: EventLoopFuture<[SocketAddress]>
    }

    /// Finds the addresses of a name, in the order in which the system would try them (RFC 6724).
    func lookUp(_ name: String, on loop: any EventLoop) -> Lookup {
      let promise = loop.makePromise(of: [SocketAddress].self)
      let (id, entry) = state.withLock { state in
        state.nextID += 1
        let entry = state.queue.enter(state.nextID, for: name)
        if entry != .refuse { state.promises[state.nextID] = promise }
        return (state.nextID, entry)
      }
      switch entry {
      case .run: run(name)
      case .wait: break
      case .refuse:
        promise.fail(
          TransportError(
            .declined, requestState: .notSent, detail: "too many host names wait to be looked up: \(name) is refused"
          ).about(.control))
      }
      return Lookup(id: id, name: name, addresses: promise.futureResult)
    }

    /// Gives a lookup up: nobody waits for it any more.
    func cancel(_ lookup: Lookup) {
      let promise = state.withLock { state in
        state.queue.leave(lookup.id, for: lookup.name) ? state.promises.removeValue(forKey: lookup.id) : nil
      }
      promise?.fail(CancellationError())
    }

    private func run(_ name: String) {
      Self.threads.submit { [self] _ in
        let result = Result { try search(name) }
        let (promises, next) = state.withLock { state in
          let (waiters, next) = state.queue.finished(name)
          return (waiters.compactMap { state.promises.removeValue(forKey: $0) }, next)
        }
        if let next { run(next) }
        for promise in promises { promise.completeWith(result) }
      }
    }
  }
#endif
