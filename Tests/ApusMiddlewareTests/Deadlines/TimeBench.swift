import ApusCore
import ApusMiddleware
import ApusTesting

/// Calls over a stub with a manual clock and executor: jobs run only while the test advances the time.
struct TimeBench: Sendable {
  let executor = ManualExecutor()
  let clock = ManualClock(.manual)
  let stub = StubTransport()

  /// Returns a client with a timeout of 30 seconds and random numbers that are always one half.
  func client(
    timeout: Duration? = .seconds(30), _ customize: @escaping (inout Pipeline) -> Void = { _ in }
  ) -> Client {
    var client = TestClient()
    client.settings.runtime = Runtime(clock: clock, executor: executor, random: { 0x8000_0000_0000_0000 })
    client.settings.runtime.executorDecodingLimit = .max
    client.timeout = timeout
    client.customize = customize
    return client.over(stub)
  }

  /// The outcome of a call.
  struct Outcome: Sendable {
    let error: CallError?
    let trace: Trace?

    var failedAttempts: [FailedAttempt] { trace?.failedAttempts ?? [] }
    var duration: Duration? { trace?.duration }
  }

  /// Starts a call.
  func start<E: Endpoint>(_ request: E, _ api: Client) -> Task<Outcome, Never> {
    let call = Task(executorPreference: executor) {
      do throws(CallError) {
        return Outcome(error: nil, trace: try await api.response(to: request).trace)
      } catch {
        return Outcome(error: error, trace: error.trace)
      }
    }
    executor.runAll()
    return call
  }

  /// Advances the time, and runs all jobs that become due.
  func pass(_ time: Duration) {
    let end = clock.now.advanced(by: time)
    executor.runAll()
    while let next = clock.nextWake, next <= end {
      clock.advance(to: next)
      executor.runAll()
    }
    clock.advance(to: end)
    executor.runAll()
  }
}
