import Apus

/// One thing the apps do, or that happens to them.
protocol Scene: Sendable {
  /// What it is about, in a few words.
  var title: String { get }

  /// Plays it; answers what must be in the logs then.
  func play(in world: World) async throws -> [Claim]
}

/// A call that ought to have failed, or failed in another way.
struct UnexpectedOutcome: Error, CustomStringConvertible {
  let expected: CallError.Code
  var error: CallError?
  var description: String {
    "a call was to fail with \(expected), but \(error.map { "failed with \($0)" } ?? "did not")"
  }
}

extension Scene {
  /// Makes a call that fails, and shows what the person reads then.
  ///
  /// - Parameters:
  ///   - code: what is to go wrong.
  ///   - call: throws nothing but `CallError`, a type that Swift loses in closures.
  /// - Throws: ``UnexpectedOutcome`` when it does not fail like that.
  @discardableResult
  func showFailure<Value>(
    _ code: CallError.Code, on stage: Stage, _ call: () async throws -> Value
  ) async throws -> CallError {
    let error = try await check(code, call)
    let status = error.status.map { ", status \($0)" } ?? ""
    stage.reads(error.errorDescription ?? "", behind: "\(error.code), \(error.requestState)\(status)")
    return error
  }

  /// Makes a call that fails, and shows nothing.
  ///
  /// - Throws: ``UnexpectedOutcome`` when it does not fail like that.
  @discardableResult
  func check<Value>(_ code: CallError.Code, _ call: () async throws -> Value) async throws -> CallError {
    do {
      _ = try await call()
    } catch let error as CallError {
      guard error.code == code else { throw UnexpectedOutcome(expected: code, error: error) }
      return error
    }
    throw UnexpectedOutcome(expected: code)
  }
}

/// Calls that ought to wait for their turn.
struct NotWaiting: Error, CustomStringConvertible {
  let count: Int
  var description: String { "there were never \(count) calls that waited for their turn" }
}

extension Scheduler {
  /// Waits until so many calls wait for their turn.
  ///
  /// - Throws: ``NotWaiting`` when that takes too long.
  func waitForWaiting(_ count: Int) async throws {
    for _ in 0..<2000 {
      if waiting >= count { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw NotWaiting(count: count)
  }
}

extension Client {
  /// Waits until no call runs any more, nor what calls have left behind: a refresh belongs to none of them.
  func waitUntilIdle() async throws {
    repeat { try await Task.sleep(for: .milliseconds(20)) } while !calls.isEmpty
    // What came of the last one is kept a moment later.
    try await Task.sleep(for: .milliseconds(20))
  }
}
