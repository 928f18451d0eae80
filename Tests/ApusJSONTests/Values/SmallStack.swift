import Foundation
import Synchronization

/// Runs work on a new thread with a small stack and waits for it. An overflow crashes the test process.
func onSmallStack<Output: Sendable>(bytes: Int = 128 << 10, _ work: @escaping @Sendable () -> Output) -> Output? {
  let output = Mutex<Output?>(nil)
  let isDone = DispatchSemaphore(value: 0)
  let box = Box { output.withLock { $0 = work() } }
  let thread = Thread {
    box.work()
    isDone.signal()
  }
  thread.stackSize = bytes
  thread.start()
  isDone.wait()
  return output.withLock { $0 }
}

private struct Box: Sendable {
  let work: @Sendable () -> Void
}
