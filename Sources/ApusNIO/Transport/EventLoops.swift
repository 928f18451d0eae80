import ApusCore
import NIOCore
public import NIOPosix
import Synchronization

extension NIOTransport {
  /// The threads that serve a transport's connections.
  public enum EventLoops: Sendable {
    /// The process's shared event loops, one for each core, started when first needed. Other users of SwiftNIO share
    /// them.
    case shared
    /// This number of event loops, at least one, that belong to the transport and end with
    /// ``NIOTransport/shutDown(within:)``.
    case dedicated(Int)
    /// The event loops of this group. The owner of the group shuts the group down after the transport.
    case group(MultiThreadedEventLoopGroup)
  }
}

/// The source of the event loops of a transport. Dedicated loops start when first needed.
final class EventLoopSource: Sendable {
  private struct State {
    var group: MultiThreadedEventLoopGroup?
    var isOver = false
  }

  private let choice: NIOTransport.EventLoops
  private let state = Mutex(State())

  init(_ choice: NIOTransport.EventLoops) {
    self.choice = choice
  }

  /// Returns the current event loop if it belongs to the source, else the source's next loop; `nil` after shutdown.
  func next() -> (any EventLoop)? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      switch choice {
      case .shared: return MultiThreadedEventLoopGroup.singleton.any()
      case .dedicated(let count):
        let group = state.group ?? MultiThreadedEventLoopGroup(numberOfThreads: max(1, count))
        state.group = group
        return group.any()
      case .group(let group): return group.any()
      }
    }
  }

  /// Whether the loops live as long as the process.
  var neverEnd: Bool { if case .shared = choice { true } else { false } }

  /// Shuts the dedicated loops down, and waits for their end.
  func shutDown() async {
    try? await end()?.shutdownGracefully()
  }

  /// Shuts the dedicated loops down without waiting.
  func abandon() {
    end()?.shutdownGracefully { _ in }
  }

  private func end() -> MultiThreadedEventLoopGroup? {
    state.withLock { state in
      defer { state = State(isOver: true) }
      return state.group
    }
  }
}

/// A task executor on an event loop. Responses arrive on that loop, so a task continues without a change of threads.
///
/// Intended for tasks that do little work between calls. A task that computes or blocks delays every connection of its
/// loop.
final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) {
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The executor on which calls continue after their first suspension: the global concurrent pool. As an exception, a
/// call whose small response is complete may continue on the event loop where the response arrived, so that no thread
/// need be woken.
///
/// Only one call at a time continues on a loop: if several responses arrive together, the thread pool continues the
/// other calls concurrently.
final class ContinuationExecutor: TaskExecutor {
  /// The address of the event loop on which the next job may run, or one of the values below.
  private let place = Atomic<UInt>(nowhere)
  private static let nowhere: UInt = 0
  /// The value while a job is pending. This value is not the address of an object.
  private static let taken: UInt = 1

  /// Resumes a call. The call continues on the event loop, unless another call is about to continue there.
  func resume(on loop: any EventLoop, _ resume: () -> Void) {
    let address = Self.address(of: loop)
    let isOffered = place.compareExchange(expected: Self.nowhere, desired: address, ordering: .relaxed).exchanged
    resume()
    // If no job was enqueued, the call belongs to another executor; the offer is withdrawn.
    if isOffered { _ = place.compareExchange(expected: address, desired: Self.nowhere, ordering: .relaxed) }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    guard let loop = takeLoop() else { return globalConcurrentExecutor.enqueue(job) }
    let job = UnownedJob(job)
    loop.execute {
      self.place.store(Self.nowhere, ordering: .relaxed)
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }

  private func takeLoop() -> (any EventLoop)? {
    let offered = place.load(ordering: .relaxed)
    guard offered != Self.nowhere, offered != Self.taken, let loop = MultiThreadedEventLoopGroup.currentEventLoop,
      Self.address(of: loop) == offered,
      place.compareExchange(expected: offered, desired: Self.taken, ordering: .relaxed).exchanged
    else { return nil }
    return loop
  }

  private static func address(of loop: any EventLoop) -> UInt { UInt(bitPattern: ObjectIdentifier(loop)) }
}

extension NIOTransport: ContinuingTransport {
  package var continuationExecutor: any TaskExecutor { core.continuations }
}

extension NIOTransport {
  /// Returns a task executor on one of the transport's event loops, on the next loop at each call; `nil` after
  /// shutdown. The executor is for tasks that do little between calls: a task that computes or blocks delays every
  /// connection of its loop.
  ///
  /// A call completes without a change of threads if its task runs on this executor and the client's runtime uses the
  /// executor, too. All other calls need two changes. The difference matters in services with thousands of small calls
  /// a second, not in apps.
  ///
  /// ```swift
  /// let transport = NIOTransport()
  /// let executor = transport.executor()
  /// let client = Client(baseURL: "https://api.example.com/v1", transport: transport) {
  ///   $0.settings.runtime.executor = executor
  /// }
  /// let friends = try await withTaskExecutorPreference(executor) {
  ///   try await client.send(Request<[User]>.get("/users/7/friends"))
  /// }
  /// ```
  ///
  /// A client uses one executor. For several executors, make several clients with the same transport. Small responses
  /// are decoded on the executor, too, and content of more than 16 KiB on the global pool. Dedicated loops
  /// (``EventLoops/dedicated(_:)``) end with the transport: run nothing on them afterwards.
  public func executor() -> (any TaskExecutor)? {
    core.loops.next().map { EventLoopExecutor($0) }
  }
}
