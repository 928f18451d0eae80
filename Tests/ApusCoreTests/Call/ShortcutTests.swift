import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ApusCore

/// A shortcut that records what it is asked, for calls with the method GET.
private final class Recording: ShortcutMiddleware {
  let notes = Mutex<[String]>([])
  private let shortcut: Shortcut
  private let isDone: Bool

  init(_ shortcut: Shortcut, isDone: Bool = true) {
    (self.shortcut, self.isDone) = (shortcut, isDone)
  }

  var all: [String] { notes.withLock { $0 } }
  private func add(_ note: String) { notes.withLock { $0.append(note) } }

  var audience: MiddlewareAudience { .callsThat { $0.method == .get } }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    add("intercept")
    return try await next(request, context: context)
  }

  func begin(_ request: RequestMessage, _ context: CallContext) -> Shortcut {
    add("begin \(request.target)")
    return shortcut
  }

  func end(_ number: UInt64?, _ response: ResponseMessage, _ context: CallContext) -> Bool {
    add("end \(number.map { "\($0)" } ?? "none") \(response.statusCode)")
    return isDone
  }

  func fail(_ number: UInt64) { add("fail \(number)") }

  func finish(
    _ response: ResponseMessage, to request: RequestMessage, _ context: CallContext, _ skip: Skip
  ) async throws -> ResponseMessage {
    add("finish \(skip.number.map { "\($0)" } ?? "none")")
    return try await skip.next(request, context: context)
  }
}

/// A middleware that sets the attempt, which only changes the context.
private struct Marking: ContextMiddleware {
  let attempt: Int
  var error: TransportError?

  func prepare(_ context: inout CallContext) throws {
    if let error { throw error }
    context.attempt = context.attempt * 10 + attempt
  }
}

@Suite("Shortcuts through a pipeline") struct ShortcutTests {
  private func bench(_ shortcut: Recording, outer: (any Middleware)? = nil) -> (stub: StubTransport, api: Client) {
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    let pipeline: Pipeline = [.trace: outer, .timeout: Marking(attempt: 2), .cache: shortcut]
    let environment = Environment(baseURL: "https://a.example")
    return (stub, Client(environment: environment, pipeline: pipeline, transport: stub))
  }

  @Test("A call skips the middleware, which is told about the response or the failure")
  func skip() async throws {
    let shortcut = Recording(.skip(7))
    let (stub, api) = bench(shortcut)
    try await api.send(Request<Void>.get("/x"))
    #expect(shortcut.all == ["begin /x", "end 7 204"])
    #expect(stub.exchanges.map(\.attempt) == [12])
    stub.onAny(reply: .failure(TransportError.leavesHTTPS))
    let error = await failure { try await api.send(Request<Void>.get("/y")) }
    #expect(error != nil && shortcut.all.suffix(2) == ["begin /y", "fail 7"])
  }

  @Test("A response that needs more work is finished, with the rest of the pipeline at hand")
  func finish() async throws {
    let shortcut = Recording(.skip(7), isDone: false)
    let (stub, api) = bench(shortcut)
    try await api.send(Request<Void>.get("/x"))
    #expect(shortcut.all == ["begin /x", "end 7 204", "finish 7"])
    #expect(stub.exchanges.count == 2)
  }

  @Test("The middleware can have the result, without an exchange")
  func response() async throws {
    let shortcut = Recording(.response(ResponseMessage(head: HTTPResponse(status: .init(code: 299)))))
    let (stub, api) = bench(shortcut)
    #expect(try await api.response(to: Request<Void>.get("/x")).head.status.code == 299)
    #expect(shortcut.all == ["begin /x"] && stub.exchanges.isEmpty)
  }

  @Test("A call may pass the middleware, and the end of the call is reported without a number")
  func pass() async throws {
    let shortcut = Recording(.pass)
    let (stub, api) = bench(shortcut)
    try await api.send(Request<Void>.get("/x"))
    #expect(shortcut.all == ["begin /x", "intercept", "end none 204"])
    #expect(stub.exchanges.count == 1)
  }

  @Test("A call that the middleware is not for skips it, and its end is reported")
  func otherCall() async throws {
    let shortcut = Recording(.skip(7))
    let (_, api) = bench(shortcut)
    try await api.send(Request<Void>.post("/x"))
    #expect(shortcut.all == ["end none 204"])
  }

  @Test("Behind another middleware there is no shortcut, because that middleware may change the message")
  func behindAnother() async throws {
    let shortcut = Recording(.skip(7))
    let outer = Doing { request, context, next in
      var request = request
      request.target = "/changed"
      return try await next(request, context: context)
    }
    let (stub, api) = bench(shortcut, outer: outer)
    try await api.send(Request<Void>.get("/x"))
    #expect(shortcut.all == ["intercept", "end none 204"])
    #expect(stub.exchanges.map(\.target) == ["/changed"] && stub.exchanges.map(\.attempt) == [12])
  }

  @Test("Middlewares that only change the context act in order, before and behind others, and can refuse the call")
  func contexts() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    let environment = Environment(baseURL: "https://a.example")
    let outer = Doing { request, context, next in try await next(request, context: context) }
    for (slots, attempt) in [
      ([.trace: Marking(attempt: 2), .retry: Marking(attempt: 3)], 123),
      ([.trace: Marking(attempt: 2), .validation: outer, .retry: Marking(attempt: 3)], 123),
    ] as [(Pipeline, Int)] {
      try await Client(environment: environment, pipeline: slots, transport: stub).send(Request<Void>.get("/x"))
      #expect(stub.exchanges.last?.attempt == attempt)
    }
    let refusing: Pipeline = [.trace: Marking(attempt: 2, error: .leavesHTTPS)]
    let count = stub.exchanges.count
    let error = await failure {
      try await Client(environment: environment, pipeline: refusing, transport: stub).send(Request<Void>.get("/x"))
    }
    #expect(error != nil && stub.exchanges.count == count)
  }
}
