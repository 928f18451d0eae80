/// The values of a long poll, see ``Client/poll(from:of:interval:next:)``.
struct PollSequence<Value: Sendable, Cursor: Sendable>: AsyncSequence, Sendable {
  private let client: Client
  private let first: Cursor?
  private let request: @Sendable (Cursor?) -> Request<Value>
  private let cursor: @Sendable (Value) -> Cursor?

  private var interval = Duration.seconds(1)

  init(
    client: Client, from first: Cursor?, of request: @escaping @Sendable (Cursor?) -> Request<Value>,
    next cursor: @escaping @Sendable (Value) -> Cursor?
  ) {
    (self.client, self.first, self.request, self.cursor) = (client, first, request, cursor)
  }

  /// Sets the minimum time between the starts of two calls.
  func waiting(atLeast interval: Duration) -> PollSequence {
    var polls = self
    polls.interval = interval
    return polls
  }

  /// Returns an iterator that begins at the first cursor.
  func makeAsyncIterator() -> Iterator {
    Iterator(polls: self)
  }

  /// The default timeout of a call. It is finite, because a lost connection may never be reported.
  static var longestCall: Duration { .seconds(600) }

  /// The minimum time between the starts of two calls if the response to the first has a new cursor.
  private static var shortestInterval: Duration { .milliseconds(100) }

  /// An iterator over the values.
  struct Iterator: AsyncIteratorProtocol {
    private let polls: PollSequence
    private let principal = CommonPrincipal()
    private var cursor: Cursor?
    /// The origin of the response that named the cursor, or `nil` if the app passed the cursor.
    private var source: Origin?
    private var state: ReconnectState?
    private var delay = Duration.zero
    private var isFinished = false

    fileprivate init(polls: PollSequence) {
      self.polls = polls
      cursor = polls.first
    }

    /// Performs the next call, and repeats it after a temporary error.
    ///
    /// - Returns: the value of the response, or `nil` after an error.
    /// - Throws: ``CallError``.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(CallError) -> Value? {
      guard !isFinished else { return nil }
      // Any error below ends the loop.
      isFinished = true
      while true {
        let request = prepared(polls.request(cursor))
        var state = self.state ?? ReconnectState(isRepeatable: request.box.isRepeatable)
        if delay > .zero { try await polls.client.pause(delay, for: request.box, from: polls.client.callSource) }
        let start = now
        do throws(CallError) {
          let response = try await polls.client.response(to: request)
          state.responded()
          self.state = state
          received(response, after: start.duration(to: now))
          isFinished = false
          return response.value
        } catch {
          delay = try pause(after: error, &state)
          self.state = state
        }
      }
    }

    private func prepared(_ request: Request<Value>) -> Request<Value> {
      request.modified { request in
        if let source { request.path = request.path.named(by: source) }
        if request.options.timeout == nil { request.options.timeout = longestCall }
        request.options.values[CommonPrincipalKey.self] = principal
      }
    }

    private mutating func received(_ response: Response<Value>, after time: Duration) {
      let next = polls.cursor(response.value)
      let isNew = next.map { !isSame($0, cursor) } ?? false
      delay = (isNew ? Swift.min(polls.interval, PollSequence.shortestInterval) : polls.interval) - time
      guard let next else { return }
      (cursor, source) = (next, response.box.record.url?.origin)
    }

    private func isSame(_ next: Cursor, _ cursor: Cursor?) -> Bool {
      func isEqual<Next: Equatable>(_ next: Next) -> Bool { next == cursor as? Next }
      return (next as? any Equatable).map { isEqual($0) } ?? false
    }

    /// Returns the delay before the next call.
    ///
    /// - Throws: the error, if it ends the sequence.
    private func pause(after error: CallError, _ state: inout ReconnectState) throws(CallError) -> Duration {
      let isFinal = polls.client.callSource.deadline.map { $0 <= now } ?? false
      let failure = ReconnectState.Failure(error, isFinal: isFinal)
      let jitter = polls.client.host.runtime.jitter()
      guard case .connect(let delay) = state.ended(.failed(failure), at: now, jitter: jitter) else { throw error }
      return delay
    }

    private var now: MonotonicInstant { polls.client.host.runtime.clock.now }
  }
}

extension Client {
  /// Returns the values of a long poll, whose server delays each response until there is a change to report.
  ///
  /// ```swift
  /// struct Changes: Decodable, Sendable { let movies: [Movie], cursor: String }
  ///
  /// extension Endpoint where Self == Request<Changes> {
  ///   static func changes(since cursor: String?) -> Self { .get("/changes", query: ["since": cursor]) }
  /// }
  /// for try await changes in api.poll(of: { .changes(since: $0) }, next: \.cursor) { print(changes.movies) }
  /// ```
  ///
  /// Each call begins when the loop requests the next value, and the sequence never ends by itself. The errors of the
  /// first call are thrown. After the first response, temporary errors (no network, a lost connection, a timeout, 429,
  /// 503 and the like) lead to another call with the same cursor: after a random delay whose bound starts at 3 seconds
  /// and doubles up to 30 seconds, and not before the server's `Retry-After`. All other errors end the sequence, and so
  /// does a temporary error of a request that may have been sent, unless its method is safe or its endpoint is marked
  /// `.idempotent()`. Cancelling the task ends the sequence with the code `cancelled`.
  ///
  /// A server may hold a request for up to 10 minutes, which is the limit of a call unless the endpoint sets a
  /// `timeout`. An attempt has no limit of its own.
  ///
  /// With a scheduler a long poll occupies a permit while it waits. Mark its endpoint with `.unscheduled()` if several
  /// long polls run at the same time.
  ///
  /// - Parameters:
  ///   - cursor: the cursor of the first call. Default: `nil`, no cursor.
  ///   - endpoint: returns the endpoint for a cursor.
  ///   - interval: the minimum time between the starts of two calls if the response to the first call has no cursor or
  ///     an unchanged cursor. It bounds the load on a server that does not delay its responses. With a new cursor the
  ///     minimum is 100 milliseconds, or this time if it is shorter. Default: 1 second.
  ///   - next: returns the cursor for the next call; `nil`: the same cursor again.
  /// - Returns: a sequence. Nothing is sent before a loop requests the first value.
  public func poll<E: Endpoint, Cursor: Sendable>(
    from cursor: Cursor? = nil, of endpoint: @escaping @Sendable (Cursor?) -> E, interval: Duration = .seconds(1),
    next: @escaping @Sendable (E.Value) -> Cursor?
  ) -> some AsyncSequence<E.Value, CallError> & Sendable {
    PollSequence(client: self, from: cursor, of: { endpoint($0).resolvedRequest }, next: next).waiting(
      atLeast: interval)
  }
}
