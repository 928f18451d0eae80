/// A loop over a stream. It opens one connection after the other, as ``ReconnectState`` decides.
final class StreamReader<Element: Sendable> {
  private let source: StreamSource<Element>
  private let principal = CommonPrincipal()
  private var state: ReconnectState
  /// The current or last call. All calls use the environment of the first call, because a position in one server's
  /// stream is meaningless to another server.
  private var call: Call?
  private var connection: StreamConnection<Element>?
  /// The number of connections so far.
  private var count: Int64 = 0
  private var isFinished = false

  init(_ source: StreamSource<Element>) {
    self.source = source
    state = ReconnectState(
      isAllowed: source.kind == .events && source.options.reconnects, isRepeatable: source.request.isRepeatable,
      lastEventID: source.options.lastEventID ?? "")
  }

  /// Returns the next element, or `nil` at the end of the stream and after an error.
  func next() async throws(CallError) -> Element? {
    guard !isFinished else { return nil }
    // An error below ends the loop.
    isFinished = true
    while true {
      let delay: Duration?
      do throws(CallError) {
        let connection = try await connected()
        if let element = try await connection.next() {
          isFinished = false
          return element
        }
        delay = pause(after: connection)
      } catch {
        delay = try pause(after: error)
      }
      connection = nil
      guard let delay else { return nil }
      try await source.client.pause(delay, for: source.request, from: callSource)
    }
  }

  /// Returns the current connection, or a new connection.
  private func connected() async throws(CallError) -> StreamConnection<Element> {
    if let connection { return connection }
    let call = Call(
      source.request(lastEventID: state.lastEventID, of: principal), delivery: .streamed, from: callSource)
    self.call = call
    let message = try await call.open()
    // The app reads at its own pace.
    call.callerClockHold?.end()
    count += 1
    if count > 1 { call.record(.note("reconnected stream, number of its connection", count)) }
    let connection = try StreamConnection(call, message, source, lastEventID: state.lastEventID)
    self.connection = connection
    state.connected(at: now)
    return connection
  }

  private var callSource: CallSource {
    let next = source.client.callSource
    return CallSource(host: next.host, environment: call?.prepared ?? next.environment, deadline: next.deadline)
  }

  // MARK: Reconnecting

  private var runtime: Runtime { source.client.host.runtime }
  private var now: MonotonicInstant { runtime.clock.now }

  /// Returns the delay before the next connection, or `nil` if the stream has ended.
  private func pause(after connection: StreamConnection<Element>) -> Duration? {
    state.reached(connection.position)
    guard !connection.isOver, isReplayable,
      case .connect(let delay) = state.ended(.complete, at: now, jitter: runtime.jitter())
    else { return nil }
    return delay
  }

  /// Returns the delay before the next connection.
  ///
  /// - Throws: the error, if it ends the stream.
  private func pause(after error: CallError) throws(CallError) -> Duration {
    if let connection { state.reached(connection.position) }
    let failure = ReconnectState.Failure(error, isFinal: isPastDeadline || !isReplayable)
    guard case .connect(let delay) = state.ended(.failed(failure), at: now, jitter: runtime.jitter()) else {
      throw error
    }
    return delay
  }

  /// Whether a deadline has passed that the app has set for the stream or for the surrounding work. The client's
  /// default timeout does not count.
  private var isPastDeadline: Bool { call?.snapshot(\.limits.deadline).map { $0 <= now } ?? false }

  /// Whether the content of the request can be resent.
  private var isReplayable: Bool { call?.snapshot(\.message)?.content.isReplayable ?? true }
}

extension Runtime {
  /// Returns a random number from 0 to less than 1.
  func jitter() -> Double { Double(random() >> 11) * 0x1p-53 }
}

extension Client {
  /// Waits before the next call of a sequence.
  ///
  /// During the wait a call is registered that sends no request and is not observed. Through this call the sequence can
  /// be cancelled by its id and tags, and superseded by its id.
  ///
  /// - Parameters:
  ///   - delay: the time to wait.
  ///   - request: the request of the next call.
  ///   - callSource: the source of the next call, whose inherited deadline also ends the wait.
  func pause(_ delay: Duration, for request: RequestBox, from callSource: CallSource) async throws(CallError) {
    let wait = Call(request, delivery: .described, from: callSource)
    do {
      try await sleep(delay, in: wait)
    } catch {
      throw wait.fail(error)
    }
    try wait.succeed()
  }

  private func sleep(
    _ delay: Duration, in wait: Call, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    wait.recordStart()
    guard host.registry.admit(wait) else { throw CallFault(.refused, "a call with this id is running") }
    if let deadline = wait.inheritedDeadline { wait.setDeadline(deadline) }
    let clock = host.runtime.clock
    let end = wait.startInstant.advanced(by: delay)
    try await withTaskCancellationHandler {
      let unit = host.spawner.spawn(for: isolation) {
        defer { wait.callerClockHold?.begin() }
        try await clock.sleep(until: end)
      }
      wait.attach(unit)
      wait.callerClockHold?.end()
      try await unit.value
    } onCancel: {
      wait.cancel(.caller)
    }
  }
}
