import ApusCore
import NIOCore

/// The timeouts of one exchange, in SwiftNIO's units.
struct Timeouts: Sendable {
  /// The timeout of each wait for a connection, connecting included. Only a call can set it.
  private(set) var connection: TimeAmount?
  private(set) var firstByte: TimeAmount?
  private(set) var stall: TimeAmount?

  /// Creates a transport's timeouts; `nil` for none.
  init(firstByte: Duration?, stall: Duration?) {
    self.firstByte = firstByte.map { TimeAmount($0) }
    self.stall = stall.map { TimeAmount($0) }
  }

  /// Returns these timeouts, with a call's own timeouts in place of the transport's.
  ///
  /// - Parameters:
  ///   - own: the call's timeouts for the parts of an exchange.
  ///   - call: the call's own total timeout; `nil` if the call sets none. The total timeout replaces a shorter
  ///     ``firstByte``: such a call expects a slow response, as a long poll does.
  func with(_ own: ExchangeTimeouts, of call: Duration?) -> Timeouts {
    var timeouts = self
    if let limit = own.connection { timeouts.connection = TimeAmount(limit) }
    if let limit = own.firstByte {
      timeouts.firstByte = TimeAmount(limit)
    } else if let limit = firstByte, let call {
      timeouts.firstByte = max(limit, TimeAmount(call))
    }
    if let limit = own.stall { timeouts.stall = TimeAmount(limit) }
    return timeouts
  }

  /// Returns the texts of the error after the timeout of a phase: of any exchange, and of one whose request is
  /// incomplete although the server responded with success.
  func failure(in phase: CallPhase) -> (detail: String, incomplete: String) {
    let isHead = phase == .awaitingHead
    let limit = (isHead ? firstByte : stall).map { "\(Duration($0))" } ?? "too long"
    let detail =
      isHead
      ? "no response head arrived within \(limit), the limit of firstByte"
      : "no byte moved in either direction for \(limit), the limit of stall"
    return (detail, "no byte left for \(limit), the limit of stall")
  }

  /// The interval at which unsent bytes are measured: at most a second, for callers that compute the rate from the
  /// reports.
  var measurementInterval: TimeAmount {
    max(.milliseconds(1), min(.seconds(1), stall.map { .nanoseconds($0.nanoseconds / 4) } ?? .hours(1)))
  }
}

/// A timer that fires when a connection makes no progress within a timeout.
///
/// Setting a timeout only reads the clock. The scheduled task is not rescheduled: it checks the current timeout when it
/// runs.
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

  /// Sets the timeout, counted from now; `nil` for none.
  func allow(_ time: TimeAmount?, in phase: CallPhase) {
    guard let time else { return clear() }
    let deadline = loop.now + time
    self.deadline = deadline
    self.phase = phase
    if let alarm, alarm.instant <= deadline { return }
    schedule(at: deadline)
  }

  /// Removes the timeout.
  func clear() {
    deadline = nil
  }

  /// Cancels the timer permanently.
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
