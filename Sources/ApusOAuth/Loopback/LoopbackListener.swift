import Synchronization

/// A listener on 127.0.0.1 that waits for one redirect (RFC 8252 §7.3), on a separate queue.
///
/// The listener responds to every request, and continues to wait after requests that are not the redirect of this
/// sign-in. The number of connections and the length of requests are limited.
final class LoopbackListener: Sendable {
  private typealias Waiter = CheckedContinuation<String, any Error>

  private enum State {
    /// The sign-in is not waiting yet. The redirect may have arrived.
    case idle(Result<String, OAuthError>?)
    case waiting(Waiter)
    case over
  }

  private let state = Mutex(State.idle(nil))
  private let loop: LoopbackLoop
  /// The URL to which the server redirects the browser.
  let redirect: String

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - port: the port; 0 for any free port.
  ///   - path: the path of the redirect.
  ///   - state: the state of the redirect.
  init(port: UInt16, path: String, state: String) throws(OAuthError) {
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3F }) else {
      throw OAuthError(.redirect, .listenerFailed, "the path of the redirect must be a path")
    }
    loop = try LoopbackLoop(port: port, path: path, state: state)
    redirect = "http://127.0.0.1:\(loop.port)\(path)"
    let origin = "http://127.0.0.1:\(loop.port)"
    loop.start { [weak self] end in
      switch end {
      case .success(let target): self?.end(with: .success(origin + target))
      case .failure(let error): self?.end(with: .failure(error))
      }
    }
  }

  deinit { loop.stop() }

  /// Stops listening.
  func close() {
    loop.stop()
  }

  /// Waits for the redirect. Must be called at most once.
  ///
  /// - Returns: the complete URL.
  /// - Throws: ``OAuthError``; `CancellationError` when the task is cancelled.
  func arrival() async throws -> String {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (waiter: Waiter) in
        let result: Result<String, any Error>? = state.withLock { state in
          switch state {
          case .idle(let result?):
            state = .over
            return result.mapError { $0 }
          case .idle(nil) where !Task.isCancelled:
            state = .waiting(waiter)
            return nil
          case .idle, .waiting, .over:
            return .failure(CancellationError())
          }
        }
        if let result { waiter.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard case .waiting(let waiter) = state else { return nil }
        state = .over
        return waiter
      }
      waiter?.resume(throwing: CancellationError())
    }
  }

  private func end(with result: Result<String, OAuthError>) {
    let waiter = state.withLock { state -> Waiter? in
      switch state {
      case .idle(nil):
        state = .idle(result)
        return nil
      case .waiting(let waiter):
        state = .over
        return waiter
      case .idle, .over: return nil
      }
    }
    waiter?.resume(with: result.mapError { $0 })
  }
}
