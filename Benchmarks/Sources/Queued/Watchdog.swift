import Foundation

/// Ends a process that has not ended by itself: a call that never comes back must not hold up whoever measures.
enum Watchdog {
  static func watch(_ what: String, seconds: Int) {
    // A thread, since there may be none left in the pool.
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: Double(seconds))
      FileHandle.standardError.write(Data("\(what) has not ended after \(seconds) seconds\n".utf8))
      _exit(1)
    }
  }
}
