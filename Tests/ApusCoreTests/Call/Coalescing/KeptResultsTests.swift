import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Errors, responses and traces that outlive their client")
struct KeptResultsTests {
  /// A connection that lives as long as its transport.
  private final class Connection: Sendable {}

  private struct Connected: Transport {
    let stub: StubTransport
    let connection: Connection

    func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
      try await stub.send(request, context: context)
    }
  }

  /// Weak references to the objects that should be freed with the client.
  private struct Remains {
    weak var host: CallHost?
    weak var stub: StubTransport?
    weak var connection: Connection?

    var isEmpty: Bool { host == nil && stub == nil && connection == nil }
  }

  private struct AppError: Error {}

  /// Returns a value made with a client. The client is released at the end of this method.
  private func make<Kept>(
    _ kept: (Client, StubTransport) async throws -> Kept
  ) async throws -> (kept: Kept, remains: Remains) {
    let transport = Connected(stub: StubTransport(), connection: Connection())
    var pipeline = Pipeline()
    pipeline.insert(ObeyTimeouts(), .before(.timeout))
    let api = Client(
      environment: Environment(baseURL: "https://x.test"), pipeline: pipeline, transport: transport)
    let remains = Remains(host: api.host, stub: transport.stub, connection: transport.connection)
    return (try await kept(api, transport.stub), remains)
  }

  /// Whether all objects are freed once the tasks that have just ended are freed.
  private func areGone(_ remains: Remains) async -> Bool {
    try? await waitWhile(!remains.isEmpty)
    return remains.isEmpty
  }

  @Test("A stored rejection retains neither its client nor the transport and its connections")
  func rejection() async throws {
    let (error, remains) = try await make { api, stub in
      stub.onAny(reply: .json(#"{"message":"no"}"#, status: 404))
      return try #require(await api.result(of: Request<String>.get("/users/\(7)")).error)
    }
    #expect(await areGone(remains))
    #expect(error.status == 404 && error.endpoint.template == "/users/{}" && error.attempts == 1)
    #expect(error.trace.events.last?.kind == .failed(.rejected) && error.message == "no")
  }

  @Test(
    "A stored error of any kind retains neither client nor transport",
    arguments: [
      StubReply.failure(TransportError(.connectionFailed, requestState: .notSent)), .text("no JSON"),
      .failure(CancellationError()), .failure(AppError()),
    ])
  func kinds(answer: StubReply) async throws {
    let (error, remains) = try await make { api, stub in
      stub.onAny(reply: answer)
      return try #require(await api.result(of: Request<[Int]>.get("/").timeout(.seconds(60))).error)
    }
    #expect(await areGone(remains))
    #expect(!error.message.isEmpty && !error.description.isEmpty && !error.trace.events.isEmpty)
  }

  @Test("A stored error that a stream threw before its call ended retains neither client nor transport")
  func stream() async throws {
    let (errors, remains) = try await make { api, stub in
      stub.onAny(reply: .pieces(["a"]).failing(after: 1))
      let inside = Log<CallError>()
      let outside = await #expect(throws: CallError.self) {
        try await api.withResponse(to: Request<Data>.get("/")) { response in
          do throws(CallError) {
            while try await response.next() != nil {}
          } catch {
            inside.add(error)
            throw error
          }
        }
      }
      return inside.all + [try #require(outside)]
    }
    #expect(await areGone(remains))
    #expect(errors.map(\.code) == [.connectionLost, .connectionLost])
    // The first error was thrown before the end, and its trace contains the events up to that instant.
    #expect(errors[0].trace.events.last?.kind != .failed(.connectionLost))
    #expect(errors[1].trace.events.last?.kind == .failed(.connectionLost))
  }

  @Test("A stored response and its trace retain neither client nor transport")
  func response() async throws {
    let (response, remains) = try await make { api, stub in
      stub.onAny(reply: .text("ok"))
      return try await api.response(to: Request<String>.get("/users/\(7)"))
    }
    #expect(await areGone(remains))
    #expect(response.value == "ok" && response.head.status == .ok)
    #expect(response.trace.events.last?.kind == .succeeded && response.trace.description.contains("GET /users/{}"))
  }

  @Test("A call's error that is the cause of another call's error retains neither client")
  func causes() async throws {
    let (error, remains) = try await make { api, stub in
      stub.on(.get, "/other", reply: .status(404))
      stub.on(.get, "/stream", reply: .pieces(["a"]))
      return try #require(
        await #expect(throws: CallError.self) {
          try await api.withResponse(to: Request<Data>.get("/stream")) { _ in
            _ = try await api.send(Request<Data>.get("/other"))
          }
        })
    }
    #expect(await areGone(remains))
    #expect(error.code == .handler && (error.underlying as? CallError)?.status == 404)
  }
}
