#if NIO
  import NIOCore
  import NIOPosix
  import Synchronization

  /// Gives the event loops that connections are served on; those of the transport's own begin with the first.
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

    /// The caller's own loop where it is one of these, else the next; `nil` once they are shut down.
    func next() -> (any EventLoop)? {
      state.withLock { state in
        guard !state.isOver else { return nil }
        switch choice {
        case .shared: return MultiThreadedEventLoopGroup.singleton.any()
        case .own(let count):
          let group = state.group ?? MultiThreadedEventLoopGroup(numberOfThreads: max(1, count))
          state.group = group
          return group.any()
        case .group(let group): return group.any()
        }
      }
    }

    /// Ends the threads; returns when they have ended.
    func shutDown() async {
      try? await end()?.shutdownGracefully()
    }

    /// Ends the threads when they come to it.
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
#endif
