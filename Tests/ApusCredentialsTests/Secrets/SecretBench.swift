import Apus
import ApusTesting
import HTTPTypes

/// A call with a given outcome, and all descriptions and log lines that the call produces.
struct SecretBench: Sendable {
  let authenticator: Authenticator
  let ending: Ending
  let stub = StubTransport()
  let events = Log<SessionEnd>()
  /// The descriptions produced during the call.
  private let shown = Log<PrintedText>()
  private let lines = LogRecorder()
  private let clock = ManualClock(.manual)
  private let gate = Gate()
  private let configuration: Configuration
  private let client: Client

  init(_ secret: SecretCase) {
    (authenticator, ending) = (secret.authenticator, secret.ending)
    var configuration = Configuration(baseURL: "https://api.example.com/v1")
    configuration.authentication = authenticator.authentication()
    (configuration.timeout, configuration.attemptTimeout) = (nil, nil)
    // The clock stands still, so a delay before a retry would never end.
    configuration.retry = .none
    configuration.onSessionEnd = events.add
    configuration.settings.runtime.clock = clock
    configuration.settings.observers = [
      RequestLogging(lines.logger()), RequestLogging(lines.logger(), showsPaths: true), EntryReader(shown: shown),
    ]
    self.configuration = configuration
    client = Client(configuration: configuration, transport: stub)
    let server = SecretServer(authenticator: authenticator, ending: ending, gate: gate)
    stub.on(where: { _, _ in true }, reply: { exchange in server.answer(to: exchange) })
  }

  private var request: Request<Void> {
    let request = Request<Void>.get("/users/\(7)").tag("t")
    // A call whose refresh fails must not wait for another refresh.
    if ending.isOfRefresh, ending != .refreshTimedOut { return request.timeout(.milliseconds(500)) }
    return ending == .timedOut ? request.timeout(.seconds(1)) : request
  }

  /// Makes the call.
  ///
  /// - Returns: the call's error, and all descriptions and log lines.
  func run() async throws -> (error: CallError?, texts: [PrintedText]) {
    let call = Task { await self.call() }
    try await meanwhile()
    let error = await call.value
    gate.open()
    try await stub.waitUntilIdle()
    if let error { show(error) }
    await showAround()
    return (error, shown.all + lines.lines.all.map { PrintedText("log line", $0.text) })
  }

  private func call() async -> CallError? {
    do throws(CallError) {
      guard ending == .streamed else {
        let response = try await client.response(to: request)
        show("response", response)
        return nil
      }
      try await client.withResponse(to: request) { response in
        show("streamed response's head", response.head)
        show("registry while content arrives", client.calls.all)
        _ = try await response.collect()
        show("streamed response's end", [response.trailers, response.expectedLength as Any] as [Any])
      }
      return nil
    } catch {
      return error
    }
  }

  /// Acts while the call runs: advances the clock, or cancels the call.
  private func meanwhile() async throws {
    switch ending {
    case .timedOut, .refreshTimedOut:
      try await gate.waitForArrivals(1)
      try await clock.waitForSleepers(1)
      show("registry while the call waits", client.calls.all)
      clock.advance(by: ending == .timedOut ? .seconds(1) : .seconds(5))
    case .cancelled:
      try await gate.waitForArrivals(1)
      show("registry while the call waits", [client.calls, client.calls.all] as [Any])
      client.calls.cancelAll()
    default: break
    }
  }

  // MARK: Texts

  private func show(_ name: String, _ value: Any) {
    shown.add(PrintedText(name, texts(of: value)))
  }

  private func show(_ error: CallError) {
    for text in error.printedTexts(withContent: ending.isUnreadable) { shown.add(text) }
  }

  /// Records the descriptions of the client, its settings and the messages that were sent.
  private func showAround() async {
    show("client", client)
    show("configuration", configuration)
    show("environment", client.environment)
    show("authentications", client.environment.authentications)
    show("pipeline", configuration.pipeline)
    show("request", request)
    for event in events.all { show("event", event) }
    for exchange in stub.exchanges {
      show("message", exchange.request)
      shown.add(PrintedText("curl line", exchange.request.curl()))
    }
    guard let described = try? await client.message(for: request) else { return }
    show("described message", described)
    shown.add(PrintedText("described curl line", described.curl()))
  }
}

/// An observer that records all descriptions of the registry entry of a call.
private struct EntryReader: CallObserver {
  let shown: Log<PrintedText>

  func observe(_ event: TraceEvent, of call: CallEntry) {
    shown.add(PrintedText("entry", texts(of: call)))
    shown.add(PrintedText("event of the trace", texts(of: event)))
    shown.add(PrintedText("trace so far", "\(call.trace) \(call.urlTemplate) \(call.id) \(call.tags) \(call.endpoint)"))
  }
}
