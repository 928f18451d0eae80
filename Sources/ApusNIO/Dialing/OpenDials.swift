#if NIO
  import NIOCore
  import Synchronization

  /// The connections of a transport that are in the making.
  final class OpenDials: Sendable {
    private struct Entry: Sendable {
      let loop: any EventLoop
      let dial: NIOLoopBound<Dial>
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// On the dial's loop.
    func add(_ dial: Dial, on loop: any EventLoop) {
      let entry = Entry(loop: loop, dial: NIOLoopBound(dial, eventLoop: loop))
      entries.withLock { $0[ObjectIdentifier(dial)] = entry }
    }

    func remove(_ dial: Dial) {
      // Released outside of the lock.
      let entry = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(dial)) }
      withExtendedLifetime(entry) {}
    }

    func cancelAll() {
      for entry in entries.withLock({ Array($0.values) }) {
        entry.loop.execute { entry.dial.value.cancel() }
      }
    }
  }
#endif
