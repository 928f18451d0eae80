import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ApusCore

/// A middleware that records its name before and after it passes a message on.
private struct Noting: Middleware {
  let name: String
  let notes: Notes

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    notes.add(name)
    defer { notes.add("/" + name) }
    return try await next(request, context: context)
  }
}

/// A middleware that some calls skip.
private struct Picky: ConditionalMiddleware {
  let name: String
  let audience: MiddlewareAudience
  let notes: Notes

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await Noting(name: name, notes: notes).intercept(request, context: context, next: next)
  }
}

private final class Notes: Sendable {
  private let list = Mutex<[String]>([])
  var all: [String] { list.withLock { $0 } }
  func add(_ note: String) { list.withLock { $0.append(note) } }
}

@Suite("Pipelines") struct PipelineTests {
  private func names(_ pipeline: Pipeline) -> [String] {
    pipeline.middlewares.compactMap { ($0 as? Noting)?.name }
  }

  @Test("The slots have the documented order, outermost first")
  func slots() {
    #expect(
      Slot.allCases == [
        .trace, .validation, .timeout, .principal, .cache, .coalescing, .retry, .scheduling, .attemptTimeout,
        .rateLimit,
        .breaker, .redirects, .cookies, .authentication, .transport,
      ])
    #expect(Slot.allCases == Slot.allCases.shuffled().sorted())
  }

  @Test("Middlewares have the order of their slots, whatever the order of insertion", arguments: 0..<20)
  func order(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let notes = Notes()
    var pipeline: Pipeline = [:]
    for slot in Slot.allCases.shuffled(using: &generator) {
      let middleware = Noting(name: "\(slot)", notes: notes)
      pipeline.insert(middleware, Bool.random(using: &generator) ? .before(slot) : .after(slot))
    }
    #expect(names(pipeline) == Slot.allCases.map { "\($0)" })
    #expect(pipeline.description == Slot.allCases.map { "\($0): Noting" }.joined(separator: "\n"))
  }

  @Test("A middleware inserted before a slot is outside all middlewares of the slot; inserted after, it is inside")
  func beforeAndAfter() {
    let notes = Notes()
    var pipeline: Pipeline = [:]
    func insert(_ name: String, _ position: Pipeline.Position) {
      pipeline.insert(Noting(name: name, notes: notes), position)
    }
    insert("retry", .after(.retry))
    insert("outer", .before(.retry))
    insert("inner", .after(.retry))
    insert("outermost", .before(.retry))
    insert("innermost", .after(.retry))
    insert("cache", .after(.cache))
    insert("wire", .before(.transport))
    insert("scheduling", .before(.scheduling))
    #expect(names(pipeline) == ["cache", "outermost", "outer", "retry", "inner", "innermost", "scheduling", "wire"])
    pipeline.removeAll(in: .retry)
    #expect(names(pipeline) == ["cache", "scheduling", "wire"])
    pipeline.removeAll(in: .breaker)
    #expect(names(pipeline).count == 3)
  }

  @Test("Calls pass through the middlewares in order and return in reverse")
  func path() async throws {
    let notes = Notes()
    var pipeline = Pipeline()
    pipeline.insert(Noting(name: "b", notes: notes), .after(.retry))
    pipeline.insert(Noting(name: "a", notes: notes), .before(.trace))
    try await client(pipeline: pipeline).send(Request<Void>.get("/x"))
    #expect(notes.all == ["a", "b", "/b", "/a"])
  }

  @Test("A middleware can change the message, pass it on several times, or respond itself")
  func changes() async throws {
    struct Twice: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        var (request, context) = (request, context)
        try await next(request, context: context).discard()
        request.target += "?again=1"
        context.attempt = 2
        return try await next(request, context: context)
      }
    }
    struct Answers: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        ResponseMessage(head: HTTPResponse(status: .init(code: 299)))
      }
    }
    let stub = StubTransport()
    stub.onAny(reply: .status(200))
    var pipeline = Pipeline()
    pipeline.insert(Twice(), .before(.retry))
    let environment = Environment(baseURL: "https://a.example")
    try await Client(environment: environment, pipeline: pipeline, transport: stub).send(Request<Void>.get("/x"))
    #expect(stub.exchanges.map(\.target) == ["/x", "/x?again=1"])
    #expect(stub.exchanges.map(\.attempt) == [1, 2])
    pipeline.insert(Answers(), .before(.trace))
    let api = Client(environment: environment, pipeline: pipeline, transport: stub)
    #expect(try await api.response(to: Request<Void>.get("/x")).head.status.code == 299)
    let error = await failure { try await api.message(for: Request<Void>.get("/x")) }
    #expect(stub.exchanges.count == 2)
    #expect(error == nil)
  }

  @Test("A pipeline literal keeps the order of its middlewares, and nil adds no middleware")
  func literal() {
    let notes = Notes()
    let pipeline: Pipeline = [
      .trace: Noting(name: "a", notes: notes), .retry: nil, .retry: Noting(name: "b", notes: notes),
      .retry: Noting(name: "c", notes: notes), .transport: Noting(name: "d", notes: notes),
    ]
    #expect(names(pipeline) == ["a", "b", "c", "d"])
    #expect(("\([:] as Pipeline)").isEmpty)
  }

  @Test("A pipeline literal whose slots are out of order traps")
  func literalOutOfOrder() async {
    await #expect(processExitsWith: .failure) {
      let pipeline: Pipeline = [.retry: PrincipalBinding(), .trace: PrincipalBinding()]
      print(pipeline)
    }
  }

  @Test("A pipeline without policies consists of principal binding and coalescing")
  func standard() {
    #expect("\(Pipeline())" == "principal: PrincipalBinding\ncoalescing: CoalescingMiddleware")
  }

  @Test("A call skips the middlewares that it does not need")
  func skipped() async throws {
    let notes = Notes()
    let pipeline: Pipeline = [
      .trace: Picky(name: "outer", audience: .coalescedCalls, notes: notes),
      .retry: Picky(name: "b", audience: .allCalls, notes: notes),
      .retry: Picky(name: "inner", audience: .coalescedCalls, notes: notes), .breaker: Noting(name: "c", notes: notes),
      .transport: Picky(name: "last", audience: .coalescedCalls, notes: notes),
    ]
    try await client(pipeline: pipeline).send(Request<Void>.method(.get, "/x"))
    #expect(notes.all == ["b", "c", "/c", "/b"])
  }

  @Test("A call skips a middleware for common parameters if the call's environment has no common parameters")
  func skippedParameters() async throws {
    let plain = Environment(baseURL: "https://a.example")
    var (withField, withQuery) = (plain, plain)
    withField.fields = [RawField("X-App", "1")]
    withQuery.query = ["key": "1"]
    for (name, environment) in [("plain", plain), ("field", withField), ("query", withQuery)] {
      let notes = Notes()
      let pipeline: Pipeline = [.validation: Picky(name: name, audience: .callsWithCommonParameters, notes: notes)]
      let stub = StubTransport()
      stub.onAny(reply: .status(204))
      try await Client(environment: environment, pipeline: pipeline, transport: stub)
        .send(Request<Void>.method(.get, "/x"))
      #expect(notes.all.isEmpty == (name == "plain"))
    }
  }

  @Test("A context value has its key's default until it is set, and changes affect no copy")
  func settings() {
    enum Depth: ContextKey { static var defaultValue: Int { 3 } }
    enum Name: ContextKey { static var defaultValue: String? { nil } }
    var values = ContextValues()
    #expect(values[Depth.self] == 3 && values[Name.self] == nil)
    values[Depth.self] = 4
    values[Name.self] = "n"
    let copy = values
    values[Depth.self] = 5
    values[Name.self] = nil
    #expect(values[Depth.self] == 5 && values[Name.self] == nil)
    #expect(copy[Depth.self] == 4 && copy[Name.self] == "n")
  }

  @Test("The context of a middleware has all properties of the call")
  func context() async throws {
    struct Looks: Middleware {
      enum Key: ContextKey { static var defaultValue: Int { 0 } }
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        #expect(context.call.id == "named" && context.call.tags == ["t"])
        #expect(context.call.endpoint.template == "/x/{}")
        #expect(context.environment.name == "default")
        #expect(context.call.timeout == .seconds(9) && context.contentLimit == 77 && context.attempt == 1)
        #expect(context.values[Key.self] == 5 && context.delivery == .buffered && context.deadline == nil)
        #expect(context.queryStyle.arrays == .brackets)
        #expect(context.random() == 4 && context.now == context.call.startInstant && context.clock.now == context.now)
        return try await next(request, context: context)
      }
    }
    var pipeline = Pipeline()
    pipeline.insert(Looks(), .before(.retry))
    let stub = StubTransport()
    stub.onAny(reply: .status(200))
    var settings = ClientSettings()
    settings.runtime = Runtime(clock: ManualClock(.manual), random: { 4 })
    let api = Client(
      environment: Environment(baseURL: "https://a.example"), pipeline: pipeline, transport: stub, settings: settings)
    let request = Request<Void>.get("/x/\(1)").id("named", onDuplicate: .allow).tag("t").timeout(.seconds(9))
    try await api.send(
      request.contentLimit(77).setting(Looks.Key.self, 5).coding { $0.query = QueryStyle(arrays: .brackets) })
    #expect(stub.exchanges.count == 1)
  }
}
