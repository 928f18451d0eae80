import Foundation
import Synchronization

/// The smallest stack that is supported, and a half of it with room for the frames of the thread itself.
let smallStacks = [512 << 10, 288 << 10]

/// Whether the tests run with a sanitizer, which makes frames larger, that for addresses several times as large.
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
