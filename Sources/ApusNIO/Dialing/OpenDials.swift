#if NIO
  import ApusCore
  import NIOCore
  import Synchronization

  /// The connections of a transport that are in the making.
  final class OpenDials: Sendable {
    private struct Entry: Sendable {
      let origin: Origin
      let loop: any EventLoop
      let dial: NIOLoopBound<Dial>
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// On the dial's loop.
    func add(_ dial: Dial, to origin: Origin, on loop: any EventLoop) {
      let entry = Entry(origin: origin, loop: loop, dial: NIOLoopBound(dial, eventLoop: loop))
      entries.withLock { $0[ObjectIdentifier(dial)] = entry }
    }

    func remove(_ dial: Dial) {
      // Released outside of the lock.
      let entry = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(dial)) }
      withExtendedLifetime(entry) {}
    }

    /// Gives up those to an origin that still look its name up.
    func giveUpLookups(of origin: Origin) {
      for entry in entries.withLock({ $0.values.filter { $0.origin == origin } }) {
        entry.loop.execute { entry.dial.value.giveUpLookup() }
      }
    }

    func cancelAll() {
      for entry in entries.withLock({ Array($0.values) }) {
        entry.loop.execute { entry.dial.value.cancel() }
      }
    }
  }
#endif
