#if NIO
  import ApusCore
  import NIOCore

  /// Tells when a connection has waited too long.
  ///
  /// Setting a limit is one look at the clock: what is scheduled stays, and when it comes it looks whether its time has
  /// really come.
  final class Watchdog {
    private let loop: any EventLoop
    private let onExpiry: (CallPhase) -> Void
    private var deadline: NIODeadline?
    private var phase = CallPhase.connecting
    private var alarm: (task: Scheduled<Void>, instant: NIODeadline)?

    init(loop: any EventLoop, onExpiry: @escaping (CallPhase) -> Void) {
      self.loop = loop
      self.onExpiry = onExpiry
    }

    /// From now on so much time may pass; `nil`: any.
    func allow(_ time: TimeAmount?, in phase: CallPhase) {
      guard let time else { return clear() }
      let deadline = loop.now + time
      self.deadline = deadline
      self.phase = phase
      if let alarm, alarm.instant <= deadline { return }
      schedule(at: deadline)
    }

    /// Any time may pass.
    func clear() {
      deadline = nil
    }

    /// Ends it for good.
    func stop() {
      deadline = nil
      alarm?.task.cancel()
      alarm = nil
    }

    private func schedule(at instant: NIODeadline) {
      alarm?.task.cancel()
      let task = loop.assumeIsolated().scheduleTask(deadline: instant) { self.ring() }
      alarm = (task, instant)
    }

    private func ring() {
      alarm = nil
      guard let deadline else { return }
      guard deadline <= loop.now else { return schedule(at: deadline) }
      self.deadline = nil
      onExpiry(phase)
    }
  }
#endif
