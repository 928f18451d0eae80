import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore
@testable import ApusMiddleware

/// A middleware with the given facts.
private struct Saying: Middleware, SelfDescribing {
  let facts: [Fact]

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: context)
  }
}

/// A middleware of an app with a summary text.
private struct Summed: Middleware {
  let summary: String

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: context)
  }
}

private struct Silent: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: context)
  }
}

private struct Wire: Transport, SelfDescribing {
  let facts: [Fact]

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok))
  }
}

private struct Watching: CallObserver, SelfDescribing {
  var facts: [Fact] { [.setting("level", "info")] }

  func observe(_ event: TraceEvent, of call: CallEntry) {}
}

@Suite("The description of a client")
struct ClientDescriptionTests {
  private let secret = "s3nt1nel"

  private func client(
    _ middlewares: [(any Middleware, Pipeline.Position)], over transport: any Transport = StubTransport(),
    in environment: Environment = Environment(baseURL: "https://api.example.com/v1")
  ) -> Client {
    var pipeline: Pipeline = [:]
    for (middleware, position) in middlewares { pipeline.insert(middleware, position) }
    var settings = ClientSettings()
    settings.observers = [Watching()]
    return Client(environment: environment, pipeline: pipeline, transport: transport, settings: settings)
  }

  @Test("A client's description has a line for each layer, outermost first, then transport, environment and observers")
  func text() {
    let api = client(
      [
        (Silent(), .before(.transport)), (Saying(facts: [.attempts(3), .setting("of my own", "yes")]), .after(.retry)),
        (Saying(facts: []), .after(.trace)),
      ], over: Wire(facts: [.connections(perOrigin: 2, total: 4)]))
    #expect(
      "\(api.describe())" == """
        trace: Saying
        retry: Saying (3 attempts, of my own yes)
        transport: Silent
        transport: Wire (2 connections per origin, 4 in total)
        environment: default (https://api.example.com/v1)
        observer: Watching (level info)
        """)
  }

  @Test("A client's description contains the summary of an app's middleware after its name, on one line")
  func summary() {
    let api = client([(Summed(summary: "tenant\nacme"), .after(.retry)), (Summed(summary: ""), .after(.retry))])
    #expect("\(api.describe())".hasPrefix("retry: Summed (tenant acme)\nretry: Summed\ntransport: "))
    #expect(api.describe().warnings.isEmpty)
  }

  @Test("A client's description has layers with their facts, and warnings, as values")
  func value() {
    let api = client([(Saying(facts: [.attempts(3)]), .after(.retry)), (Silent(), .after(.cookies))])
    let description = api.describe()
    #expect(description.layers.map(\.position) == [.slot(.retry), .slot(.cookies), .transport])
    #expect(description.layers.map(\.name) == ["Saying", "Silent", "StubTransport"])
    #expect(description.layers.map(\.facts) == [[.attempts(3)], [], []])
    #expect(description.observers.map(\.position) == [.observer])
    #expect(description.warnings.isEmpty)
    #expect(description == api.describe() && description != client([]).describe())
  }

  @Test("A client's description ends with the warnings and their codes")
  func warnings() {
    let api = client(
      [
        (Saying(facts: [.permits(perOrigin: 8, total: 8)]), .before(.retry)),
        (Saying(facts: [.attempts(2)]), .after(.retry)),
      ], over: Wire(facts: [.connections(perOrigin: 4, total: 4)]))
    let description = api.describe()
    #expect(description.contradictions.map(\.code) == [.permitsHeldDuringBackoff, .permitsBeyondConnections])
    #expect(description.warnings == description.contradictions.map(\.description))
    let lines = "\(description)".split(separator: "\n")
    let first = "warning: Saying is outside Saying: permits are held during the delays between attempts."
    #expect(lines.suffix(2).first.map(String.init) == first + " [permitsHeldDuringBackoff]")
    #expect(lines.last?.hasSuffix("[permitsBeyondConnections]") == true)
  }

  @Test("A client's description has coalescing as a layer with its limits")
  func coalescing() {
    let pipeline: Pipeline = [.coalescing: CoalescingMiddleware()]
    let api = Client(
      environment: Environment(baseURL: "https://api.example.com"), pipeline: pipeline, transport: StubTransport())
    #expect(
      api.describe().layers.map(\.description) == [
        "coalescing: CoalescingMiddleware (coalesces responses up to 1048576 bytes, at most 1024 shared exchanges)",
        "transport: StubTransport",
      ])
  }

  @Test("A client's description contains the environment that new calls use")
  func environment() {
    let api = client([])
    api.use(Environment("staging", baseURL: "https://staging.example.com"))
    #expect(api.describe().environment == "staging (https://staging.example.com)")
    api.use(Environment("odd", baseURL: "ftp:/nowhere"))
    #expect(api.describe().environment.hasPrefix("odd (the base URL cannot be used:"))
  }

  @Test("A client's description contains no values of queries, common fields or parameters")
  func secrets() throws {
    var environment = Environment(baseURL: try BaseURL("https://api.example.com/v1?key=\(secret)"))
    environment.setField("X-Api-Key", secret, isSensitive: true)
    environment.query = ["token": secret]
    let description = client([(Silent(), .after(.trace))], in: environment).describe()
    var dumped = ""
    dump(description, to: &dumped)
    #expect(!"\(description)".contains(secret) && !dumped.contains(secret))
  }
}
