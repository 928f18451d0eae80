import ApusCore
import ApusMiddleware
import ApusTesting

/// Calls over a stub, with the time and the tasks of a test: nothing runs but while time passes.
struct TimeBench: Sendable {
  let executor = ManualExecutor()
  let clock = ManualClock(.manual)
  let stub = StubTransport()

  /// A client whose calls have 30 seconds, and whose lot is always one half.
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

  /// What became of a call.
  struct Outcome: Sendable {
    let error: CallError?
    let trace: Trace?

    var failedAttempts: [FailedAttempt] { trace?.failedAttempts ?? [] }
    var duration: Duration? { trace?.duration }
  }

  /// Begins a call.
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

  /// Lets time pass, and everything run that is due on the way.
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
