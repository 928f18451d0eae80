import Synchronization

/// Holds answers of a backend back, its work done, until it lets them go: for what clients do meanwhile, and with an
/// answer that comes too late.
///
/// ```swift
/// let options = Backend.Options()
/// options.held.hold("POST /sessions/refresh")
/// let backend = try await Backend.start(options)
/// // … a client refreshes …
/// await options.held.waitForAnswers(1)
/// // … and does something else …
/// options.held.release()
/// ```
public final class HeldAnswers: Sendable {
  private struct Waiter {
    let count: Int
    let signal: AsyncStream<Never>.Continuation
  }

  private struct State {
    var subject: String?
    var answers: [AsyncStream<Never>.Continuation] = []
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  /// Holds nothing yet.
  public init() {}

  /// Holds the answers to all requests with a method and a path from now on.
  ///
  /// - Parameter subject: method and path, without a query: `POST /sessions/refresh`.
  public func hold(_ subject: String) {
    state.withLock { $0.subject = subject }
  }

  /// Waits until so many answers are held, or the task is cancelled.
  public func waitForAnswers(_ count: Int) async {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let areThere = state.withLock { state in
      if state.answers.count < count { state.waiters.append(Waiter(count: count, signal: signal)) }
      return state.answers.count >= count
    }
    if areThere { return }
    for await _ in stream {}
  }

  /// Lets all held answers go, and holds none from now on.
  public func release() {
    let answers = state.withLock { state in
      defer { (state.subject, state.answers) = (nil, []) }
      return state.answers
    }
    for answer in answers { answer.finish() }
  }

  /// Returns once the answer to a request may go out, or the task is cancelled.
  func pass(_ subject: String) async {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let (isHeld, due) = state.withLock { state -> (Bool, [Waiter]) in
      guard state.subject == subject else { return (false, []) }
      state.answers.append(signal)
      let count = state.answers.count
      let due = state.waiters.filter { $0.count <= count }
      state.waiters.removeAll { $0.count <= count }
      return (true, due)
    }
    for waiter in due { waiter.signal.finish() }
    if isHeld { for await _ in stream {} }
  }
}
