import Synchronization

/// Faults that delay responses of a backend after the work is done, until ``release()`` is called. They demonstrate how
/// clients handle late responses.
///
/// ```swift
/// let options = Backend.Options()
/// options.held.hold("POST /sessions/refresh")
/// let backend = try await Backend.start(options)
/// // … a client refreshes …
/// await options.held.waitForResponses(1)
/// // … and does something else meanwhile …
/// options.held.release()
/// ```
public final class HeldResponses: Sendable {
  private struct Waiter {
    let count: Int
    let signal: AsyncStream<Never>.Continuation
  }

  private struct State {
    var subject: String?
    var responses: [AsyncStream<Never>.Continuation] = []
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  /// Creates an object that holds no responses.
  public init() {}

  /// Holds the responses to later requests with a method and a path.
  ///
  /// - Parameter subject: method and path without the query, for example `POST /sessions/refresh`.
  public func hold(_ subject: String) {
    state.withLock { $0.subject = subject }
  }

  /// Waits until `count` responses are held, or the task is cancelled.
  public func waitForResponses(_ count: Int) async {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let isReached = state.withLock { state in
      if state.responses.count < count { state.waiters.append(Waiter(count: count, signal: signal)) }
      return state.responses.count >= count
    }
    if isReached { return }
    for await _ in stream {}
  }

  /// Releases all held responses and stops holding.
  public func release() {
    let responses = state.withLock { state in
      defer { (state.subject, state.responses) = (nil, []) }
      return state.responses
    }
    for response in responses { response.finish() }
  }

  /// Waits until the response to a request may be sent, or until the task is cancelled.
  func pass(_ subject: String) async {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let (isHeld, due) = state.withLock { state -> (Bool, [Waiter]) in
      guard state.subject == subject else { return (false, []) }
      state.responses.append(signal)
      let count = state.responses.count
      let due = state.waiters.filter { $0.count <= count }
      state.waiters.removeAll { $0.count <= count }
      return (true, due)
    }
    for waiter in due { waiter.signal.finish() }
    if isHeld { for await _ in stream {} }
  }
}
