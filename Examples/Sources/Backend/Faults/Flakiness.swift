import Synchronization

/// Counts the attempts at what fails at first.
final class Flakiness: Sendable {
  /// Keys are the client's choice, so there is a limit to them.
  private static let mostKeys = 10_000

  private let attempts = Mutex<[String: Int]>([:])

  /// Notes an attempt; which one it is, from 1.
  func attempt(key: String) -> Int {
    attempts.withLock { attempts in
      if attempts.count >= Self.mostKeys { attempts.removeAll() }
      let number = attempts[key, default: 0] + 1
      attempts[key] = number
      return number
    }
  }
}
