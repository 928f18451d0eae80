import Apus

/// A scene of the demo.
protocol Scene: Sendable {
  /// The title.
  var title: String { get }

  /// Plays the scene. Returns what the servers' logs must contain afterwards.
  func play(in world: World) async throws -> [Claim]
}

/// A call that succeeded, or failed with an error other than the one that the scene expects.
struct UnexpectedOutcome: Error, CustomStringConvertible {
  let expected: CallError.Code
  var error: CallError?
  var description: String {
    "The call should have failed with \(expected), but \(error.map { "failed with \($0)" } ?? "succeeded")"
  }
}

/// A form that the server rejected although a scene expects its acceptance.
struct UnexpectedRejection: Error, CustomStringConvertible {
  let description = "The server rejected the form"
}

/// A list that should not be empty.
struct NothingFound: Error, CustomStringConvertible {
  let description = "The list of movies is empty"
}

/// A third-party server that is not installed. The scene is skipped unless such servers are required.
struct MissingServer: Error, CustomStringConvertible {
  /// The missing server, and how to install it.
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A condition that did not become true in time.
struct NotReached: Error, CustomStringConvertible {
  let condition: String
  var description: String { "Timed out waiting until \(condition)" }
}

extension Scene {
  /// Makes a call that fails, and shows the error message that the user reads.
  ///
  /// - Parameters:
  ///   - code: the expected code.
  ///   - call: throws only `CallError`, a type that Swift does not infer for closures.
  /// - Throws: ``UnexpectedOutcome``
  @discardableResult
  func showFailure<Value>(
    _ code: CallError.Code, on stage: Stage, _ call: () async throws -> Value
  ) async throws -> CallError {
    let error = try await failure(code, of: call)
    let status = error.status.map { ", status \($0)" } ?? ""
    stage.reads(error.errorDescription ?? "", cause: "\(error.code), \(error.requestState)\(status)")
    return error
  }

  /// Makes a call that fails, without printing the error.
  ///
  /// - Throws: ``UnexpectedOutcome``
  @discardableResult
  func failure<Value>(_ code: CallError.Code, of call: () async throws -> Value) async throws -> CallError {
    do {
      _ = try await call()
    } catch let error as CallError {
      guard error.code == code else { throw UnexpectedOutcome(expected: code, error: error) }
      return error
    }
    throw UnexpectedOutcome(expected: code)
  }

  /// Waits up to a minute until a condition is true.
  ///
  /// - Throws: ``NotReached``
  func wait(until condition: String, _ isReached: () -> Bool) async throws {
    for _ in 0..<12_000 {
      if isReached() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw NotReached(condition: condition)
  }

  /// Waits until a client has no calls in flight, including refreshes.
  func waitUntilIdle(_ client: Client) async throws {
    // A refresh in the background may start shortly after the call that caused it has ended.
    try await Task.sleep(for: .milliseconds(20))
    try await wait(until: "no calls are in flight") { client.calls.isEmpty }
    // The result of the last call is stored shortly after its end.
    try await Task.sleep(for: .milliseconds(20))
  }
}
