#if NIO
  import ApusTesting

  /// Held by a client and inherited by the tasks started for it: gone when the last of them is.
  final class Presence: Sendable {
    @TaskLocal static var current: Presence?

    private let over: Gate

    /// Opens `over` when nobody holds it any more.
    init(_ over: Gate) {
      self.over = over
    }

    deinit {
      over.open()
    }
  }
#endif
