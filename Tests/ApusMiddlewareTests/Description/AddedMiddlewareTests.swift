import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Middlewares of the app")
struct AddedMiddlewareTests {
  private let stub = StubTransport()

  @Test("Middlewares of an app are inserted in the slots that they name")
  func order() async throws {
    stub.onAny(reply: .status(503))
    stub.on(.get, "/v1/ping", replies: [.status(503), .status(503), .status(204)])
    let passes = Log<String>()
    var client = TestClient()
    client.environment.authentication = .bearer(MemoryCredentialsStore(token: "t"))
    client.environment.setField("X-App", "apus")
    client.customize = { pipeline in
      pipeline.insert(Signing(), .before(.transport))
      pipeline.insert(Stamp(name: "outer", passes: passes), .before(.retry))
      pipeline.insert(Retry(attempts: 3), .after(.retry))
      pipeline.insert(Stamp(name: "inner", passes: passes), .after(.retry))
    }
    let response = try await client.over(stub).response(to: .ping)
    #expect(response.head.status == 204)
    #expect(passes.all == ["outer", "inner", "inner", "inner"])
    #expect(stub.exchanges.map(\.attempt) == [1, 2, 3])
    // Each attempt is signed as the last step, so the signature covers credentials and common fields.
    #expect(
      stub.exchanges.map { $0.fields[text: "X-Signature"] } == [
        "1:Bearer t,apus", "2:Bearer t,apus", "3:Bearer t,apus",
      ])
    #expect(response.trace.events.contains { $0.kind == .exchangeStarted && $0.attempt == 3 })
  }

  @Test("A pipeline's description lists middlewares outermost first, whatever the order of insertion")
  func description() {
    var pipeline: Pipeline = [:]
    pipeline.insert(Signing(), .before(.transport))
    pipeline.insert(AuthenticationMiddleware(), .after(.authentication))
    pipeline.insert(Retry(attempts: 2), .after(.retry))
    pipeline.insert(CommonParametersMiddleware(), .after(.validation))
    pipeline.insert(TimeoutMiddleware(), .after(.timeout))
    #expect(
      "\(pipeline)" == """
        validation: CommonParametersMiddleware
        timeout: TimeoutMiddleware
        retry: Retry
        authentication: AuthenticationMiddleware
        transport: Signing
        """)
  }

  @Test("A middleware may respond instead of the server; inner middlewares do not run")
  func answering() async throws {
    var client = TestClient()
    client.customize = { $0.insert(Canned(), .after(.cache)) }
    #expect(try await client.over(stub).send(Request<Int>.get("/x")) == 7)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("An error that a middleware throws before anything is sent has the state notSent")
  func throwingEarly() async throws {
    struct NotAllowed: Error { let secret = sentinel }
    var client = TestClient()
    client.customize = { $0.insert(Refuse(error: NotAllowed()), .before(.transport)) }
    let error = try #require(await failure { try await client.over(stub).send(.ping) })
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .notSent)
    #expect(error.underlying is NotAllowed)
    #expect(error.detail == "NotAllowed")
    #expect(!texts(of: error).contains(sentinel))
  }

  @Test("An unknown error of a transport after the start becomes connectionLost, maybe sent")
  func throwingLate() async throws {
    struct Odd: Error {}
    stub.onAny(reply: .failure(Odd()))
    let error = try #require(await failure { try await TestClient().over(stub).send(.ping) })
    #expect(error.code == .connectionLost)
    #expect(error.requestState == .maybeSent)
  }
}

private struct Stamp: Middleware {
  let name: String
  let passes: Log<String>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    passes.add(name)
    return try await next(request, context: context)
  }
}

/// A middleware that signs the message that it receives.
private struct Signing: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    let signed = ["Authorization", "X-App"].compactMap { request.head.headerFields[text: $0] }
    try request.addField(RawField("X-Signature", "\(context.attempt):\(signed.joined(separator: ","))"))
    return try await next(request, context: context)
  }
}

/// A middleware that retries after a 503.
private struct Retry: Middleware {
  let attempts: Int

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    while true {
      let response = try await next(request, context: context)
      guard response.head.status == .serviceUnavailable, context.attempt < attempts else { return response }
      response.discard()
      context.attempt += 1
    }
  }
}

private struct Canned: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok), content: ResponseContent(.init("7".utf8)))
  }
}

private struct Refuse: Middleware {
  let error: any Error & Sendable

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    throw error
  }
}
