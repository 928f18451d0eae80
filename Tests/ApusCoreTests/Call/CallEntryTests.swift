import ApusCore
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Entries of the call registry")
struct CallEntryTests {
  /// Inspects the entry of a call that waits at a gate.
  private func entry<E: Endpoint>(
    of endpoint: E, at base: BaseURL = "https://x.test/v1?k=v", _ look: @Sendable (CallEntry) -> Void
  ) async throws where E.Value == Void {
    let (gate, stub) = (Gate(), StubTransport())
    stub.onAny(reply: .status(204).waiting(for: gate))
    let api = Client(environment: Environment("staging", baseURL: base), transport: stub)
    let call = Task { try await api.send(endpoint) }
    try await gate.waitForArrivals(1)
    look(try #require(api.calls.all.first))
    gate.open()
    try await call.value
    #expect(api.calls.isEmpty)
  }

  @Test("The URL of an entry is the base URL without its query, followed by the path template")
  func template() async throws {
    try await entry(of: Request<Void>.get("/users/\(7)/friends/\("ann", "name")?page=\(2)")) { entry in
      #expect(entry.urlTemplate == "https://x.test/v1/users/{}/friends/{name}")
      #expect(entry.environment == "staging")
    }
    try await entry(of: Request<Void>.get("users")) { #expect($0.urlTemplate == "https://x.test/v1/users") }
    try await entry(of: Request<Void>.get("")) { #expect($0.urlTemplate == "https://x.test/v1") }
  }

  @Test("An entry has the number of sent bytes of the request content, and the content's length if it is known")
  func sent() async throws {
    try await entry(of: Request<Void>.post("/x", content: .text("abcde"))) { entry in
      #expect(entry.sent.bytes == 5 && entry.sent.expected == 5)
      #expect(entry.phase == .awaitingHead)
      #expect(entry.head == nil && entry.received.bytes == 0 && entry.received.expected == nil)
    }
    let unknown = ContentStream(isReplayable: true) {
      let pieces = Log<Int>()
      return {
        pieces.add(1)
        return pieces.all.count > 2 ? nil : Data("xyz".utf8)
      }
    }
    try await entry(of: Request<Void>.post("/x", content: .stream(unknown))) { entry in
      #expect(entry.sent.bytes == 6 && entry.sent.expected == nil)
    }
    try await entry(of: Request<Void>.get("/x")) { #expect($0.sent.bytes == 0) }
  }

  @Test("The entry of a call with a malformed base URL has only the path template as its URL")
  func malformed() async throws {
    let urls = Log<String>()
    struct Looking: CallObserver {
      let urls: Log<String>
      func observe(_ event: TraceEvent, of call: CallEntry) { urls.add(call.urlTemplate) }
    }
    var settings = ClientSettings()
    settings.observers = [Looking(urls: urls)]
    let api = Client(environment: Environment(baseURL: "nowhere"), transport: StubTransport(), settings: settings)
    let error = await api.result(of: Request<Void>.get("/users/\(7)")).error
    #expect(error?.code == .invalidRequest)
    #expect(!urls.all.isEmpty && urls.all.allSatisfy { $0 == "/users/{}" })
  }

  @Test("A response has the id of its call, named or numbered")
  func response() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    var settings = ClientSettings()
    settings.runtime = Runtime(nextSerial: SerialNumbers(from: 41).next)
    let api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
    #expect(try await api.response(to: Request<Void>.get("/")).id.description == "#41")
    #expect(try await api.response(to: Request<Void>.get("/").latestWins("load")).id == "load")
  }

  @Test("Random numbers of the default runtime differ")
  func random() {
    let random = Runtime().random
    #expect(Set((0..<4).map { _ in random() }).count == 4)
  }
}
