import Apus
import ApusTesting
import CallTracing
import Foundation
import InProcess
import Synchronization
import Testing

private struct User: Codable, Sendable, Equatable {
  var id: Int
  var name: String
}

@Suite("Clients with a handler in place of a server")
struct InProcessTransportTests {
  private static func json(_ text: String, status: HTTPResponse.Status = .ok) -> HandlerResponse {
    HandlerResponse(
      HTTPResponse(status: status, headerFields: [.contentType: "application/json"]), content: Data(text.utf8))
  }

  private static func client(_ handler: @escaping InProcessTransport.Handler) -> Client {
    Client(baseURL: "http://app.test", transport: InProcessTransport(handler: handler))
  }

  @Test("Typed calls reach the handler, and its rejections are errors")
  func typed() async throws {
    let api = Self.client { request in
      guard request.head.method == .post else { return Self.json(#"{"detail":"no such user"}"#, status: .notFound) }
      #expect(request.head.path == "/users" && request.head.headerFields[.contentType] == "application/json")
      return HandlerResponse(
        HTTPResponse(status: .created, headerFields: [.contentType: "application/json"]), content: request.content)
    }
    let ada = User(id: 7, name: "Ada")
    #expect(try await api.send(Request<User>.post("/users", content: .json(ada))) == ada)
    let error = await #expect(throws: CallError.self) { try await api.send(Request<User>.get("/users/8")) }
    #expect(error?.code == .rejected && error?.status == 404)
  }

  @Test("Content of every kind reaches the handler, with its length if it is known")
  func content() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "in-process-\(UUID())")
    try Data("file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let api = Self.client { request in
      let length = request.head.headerFields[.contentLength] ?? "unknown"
      return HandlerResponse(HTTPResponse(status: .ok), content: Data("\(length): ".utf8) + request.content)
    }
    let stream = ContentStream(isReplayable: false) {
      let rest = Mutex(["a", "b"][...])
      return { rest.withLock { $0.popFirst() }.map { Data($0.utf8) } }
    }
    func echo(_ content: RequestContent) async throws -> String {
      try await api.send(Request<String>.put("/echo", content: content))
    }
    #expect(try await echo(.text("text")) == "4: text")
    #expect(try await echo(.file(file.path)) == "4: file")
    #expect(try await echo(.stream(stream, "text/plain")) == "unknown: ab")
    let parts = try await echo(.multipart([.value("name", "Ada"), .file("picture", at: file.path)]))
    #expect(parts.contains("Ada") && parts.contains("file"))
  }

  @Test("A stream whose length differs from the announced length is not passed to the handler")
  func wrongLength() async {
    let api = Self.client { _ in
      Issue.record("the handler was called")
      return HandlerResponse(HTTPResponse(status: .ok))
    }
    let stream = ContentStream(length: 3, isReplayable: false) {
      let rest = Mutex([Data("ab".utf8)])
      return { rest.withLock { $0.popLast() } }
    }
    let error = await #expect(throws: CallError.self) {
      try await api.send(Request<Void>.post("/", content: .stream(stream, "text/plain")))
    }
    #expect(error?.requestState == .notSent)
  }

  @Test("If a handler throws, the connection is lost; content with a wrong length interrupts the response")
  func failing() async {
    struct Failure: Error {}
    let throwing = Self.client { _ in throw Failure() }
    let error = await #expect(throws: CallError.self) { try await throwing.send(Request<Void>.post("/")) }
    #expect(error?.code == .connectionLost && error?.requestState == .maybeSent)
    let short = Self.client { _ in
      HandlerResponse(HTTPResponse(status: .ok, headerFields: [.contentLength: "3"])) { nil }
    }
    let broken = await #expect(throws: CallError.self) { try await short.send(Request<Data>.post("/")) }
    #expect(broken?.code == .connectionLost && broken?.requestState == .responded)
  }

  @Test("A handler continues the trace of its request in the calls that it makes")
  func tracing() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    let inner = Client(baseURL: "https://inner.test", transport: stub) {
      $0.customizePipeline = { $0.insertTraceContext() }
    }
    let outer = Client(
      baseURL: "http://app.test",
      transport: InProcessTransport { request in
        let value = HTTPField.Name("traceparent").flatMap { request.head.headerFields[$0] } ?? ""
        try await inner.send(Request<Void>.method(.get, "/inner").continuing(TraceContext(value)))
        return HandlerResponse(HTTPResponse(status: .ok), content: Data(value.utf8))
      }
    ) {
      $0.customizePipeline = { $0.insertTraceContext() }
    }
    let received = try #require(TraceContext(try await outer.send(Request<String>.get("/outer"))))
    let sent = stub.exchanges.first?.field("traceparent")
    #expect(try #require(TraceContext(sent ?? "")).traceID == received.traceID)
  }
}
