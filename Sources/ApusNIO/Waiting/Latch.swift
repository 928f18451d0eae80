import NIOCore
import Synchronization

/// A one-time event that tasks can wait for.
final class Latch: Sendable {
  private struct Waiter {
    let continuation: CheckedContinuation<Void, Never>
    var alarm: Scheduled<Void>?

    func release() {
      alarm?.cancel()
      continuation.resume()
    }
  }

  private struct State {
    var isOpen = false
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
  }

  private let state = Mutex(State())

  /// Whether ``open()`` was called.
  var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Opens the latch and resumes all waiters.
  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.release() }
  }

  /// Returns when the latch opens, when `limit` has passed on the loop's clock, or when the task is cancelled.
  func wait(atMost limit: TimeAmount, on loop: any EventLoop) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // Checked under the lock: a cancellation before this line is detected here, a later cancellation finds the
          // waiter.
          if state.isOpen || Task.isCancelled { return true }
          state.waiters[number] = Waiter(continuation: continuation)
          return false
        }
        if isOver { continuation.resume() } else { setAlarm(for: number, in: limit, on: loop) }
      }
    } onCancel: {
      release(number)
    }
  }

  /// Sets the alarm of a registered waiter. An alarm that is set before the registration could find no waiter.
  private func setAlarm(for number: Int, in limit: TimeAmount, on loop: any EventLoop) {
    let alarm = loop.scheduleTask(in: limit) { self.release(number) }
    let isSet = state.withLock { state in
      state.waiters[number]?.alarm = alarm
      return state.waiters[number] != nil
    }
    if !isSet { alarm.cancel() }
  }

  private func release(_ number: Int) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.release()
  }
}
