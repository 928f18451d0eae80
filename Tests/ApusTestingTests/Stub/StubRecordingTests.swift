import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Returns a stream of numbers, one per piece.
private func pieces(_ count: Int, length: Int64?, failing: Bool = false) -> RequestContent {
  .stream(
    ContentStream(length: length, isReplayable: true) {
      let sent = Mutex(0)
      return {
        let number = sent.withLock { sent in
          sent += 1
          return sent
        }
        if number > count {
          if failing { throw CocoaError(.fileReadUnknown) }
          return nil
        }
        return Data("\(number)".utf8)
      }
    })
}

@Suite("Recording of a stub")
struct StubRecordingTests {
  private let stub = StubTransport()
  private let api: Client

  init() {
    api = Client(environment: Environment("staging", baseURL: "https://x.test/v1"), transport: stub)
    stub.onAny(reply: .status(204))
  }

  @Test("A stub's exchange has its call, endpoint, tags and environment")
  func identity() async throws {
    try await api.send(Request<Void>.delete("/users/\(7)").id("mine", onDuplicate: .allow).tag("a", "b"))
    let exchange = try #require(stub.exchanges.first)
    #expect(exchange.call == "mine")
    #expect(exchange.endpoint.description == "DELETE /users/{}")
    #expect(exchange.tags == ["a", "b"])
    #expect(exchange.environment == "staging")
    #expect(exchange.attempt == 1)
    #expect(exchange.target == "/v1/users/7")
    #expect(exchange.request.head.authority == "x.test")
  }

  @Test("A stub records all request content, including the content of streams")
  func streamedContent() async throws {
    try await api.send(Request<Void>.post("/", content: pieces(3, length: nil)))
    try await api.send(Request<Void>.post("/", content: pieces(3, length: 3)))
    try await api.send(Request<Void>.post("/", content: .json(["a": 1])))
    #expect(stub.exchanges.map(\.text) == ["123", "123", #"{"a":1}"#])
    #expect(stub.exchanges.allSatisfy { $0.request.content.length == Int64($0.content.count) })
  }

  @Test("A stub records the bytes of a file")
  func file() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "stub-\(UUID())")
    try Data("from a file".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    try await api.send(Request<Void>.put("/", content: .file(url.path)))
    #expect(stub.exchanges.map(\.text) == ["from a file"])
  }

  @Test("A stream that differs from its announced length fails the exchange")
  func wrongLength() async throws {
    let call = Request<Void>.post("/", content: pieces(3, length: 4))
    let error = try #require(await #expect(throws: CallError.self) { try await api.send(call) })
    #expect(error.code == .connectionLost)
    #expect(error.requestState == .maybeSent)
  }

  @Test("A stream that throws fails the exchange")
  func throwingStream() async throws {
    let call = Request<Void>.post("/", content: pieces(3, length: nil, failing: true))
    let error = try #require(await #expect(throws: CallError.self) { try await api.send(call) })
    #expect(error.code == .connectionLost)
    #expect(error.underlying is CocoaError)
    #expect(stub.exchanges.map(\.outcome) == [.failed])
  }

  @Test("A test can wait for a stub's exchanges and for the end of all exchanges")
  func waiting() async throws {
    let gate = Gate()
    stub.onAny(reply: .status(204).waiting(for: gate))
    let calls = (0..<3).map { number in Task { [api] in try await api.send(Request<Void>.get("/\(number)")) } }
    #expect(try await stub.waitForExchanges(3).count == 3)
    gate.open()
    #expect(try await stub.waitUntilIdle().allSatisfy { $0.outcome == .replied })
    for call in calls { try await call.value }
  }

  @Test("A cancelled wait for a stub's exchanges throws CancellationError")
  func cancelledWait() async throws {
    let wait = Task { [stub] in try await stub.waitForExchanges(1) }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
  }

  @Test("A thousand concurrent calls are each recorded once")
  func many() async throws {
    try await withThrowingTaskGroup { group in
      for number in 0..<1000 { group.addTask { [api] in try await api.send(Request<Void>.get("/\(number)")) } }
      try await group.waitForAll()
    }
    #expect(Set(stub.exchanges.map(\.target)).count == 1000)
    #expect(stub.exchanges.map(\.id) == Array(0..<1000))
  }
}
