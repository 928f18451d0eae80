import Foundation
import Synchronization

/// The smallest supported stack size, and half of it plus space for the thread's own frames.
let smallStacks = [512 << 10, 288 << 10]

/// Whether the tests run with a sanitizer, which enlarges frames (the address sanitizer several times).
let isSanitized = ProcessInfo.processInfo.environment["APUS_SANITIZER"] != nil

/// Runs work on a new thread with a small stack and waits for it. An overflow crashes the test process.
func onSmallStack<Output: Sendable>(bytes: Int = 128 << 10, _ work: @escaping @Sendable () -> Output) -> Output? {
  let output = Mutex<Output?>(nil)
  let isDone = DispatchSemaphore(value: 0)
  let box = Box { output.withLock { $0 = work() } }
  let thread = Thread {
    box.work()
    isDone.signal()
  }
  thread.stackSize = (isSanitized ? 8 : 1) * bytes
  thread.start()
  isDone.wait()
  return output.withLock { $0 }
}

private struct Box: Sendable {
  let work: @Sendable () -> Void
}
