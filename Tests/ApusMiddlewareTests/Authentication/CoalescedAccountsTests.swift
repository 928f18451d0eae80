import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("Coalesced calls and credentials")
struct CoalescedAccountsTests {
  private let gate = Gate()
  private let tokens = MemoryCredentialsStore(token: "one")

  private var stub: StubTransport {
    let stub = StubTransport()
    stub.on { _, _ in
      true
    } reply: { exchange in
      .encoded("\(exchange.fields[.authorization] ?? "none") \(exchange.text)").waiting(for: self.gate)
    }
    return stub
  }

  private func client(_ stub: StubTransport) -> Client {
    var client = TestClient()
    client.environment.authentication = .bearer(tokens)
    return client.over(stub)
  }

  private let mine = Request<[String]>.get("/mine").mapped(by: .content).id("mine", onDuplicate: .coalesce)

  @Test("Calls with the same credentials are coalesced")
  func same() async throws {
    let stub = stub
    let api = client(stub)
    async let first = api.send(mine)
    try await gate.waitForArrivals(1)
    async let second = api.send(mine)
    try await waitUntilCoalesced(api)
    gate.open()
    _ = try await (first, second)
    #expect(stub.exchanges.count == 1)
  }

  @Test("After another account signed in, its calls do not get responses of the first account")
  func otherAccount() async throws {
    let stub = stub
    let api = client(stub)
    async let first = api.send(mine)
    try await gate.waitForArrivals(1)
    tokens.set(token: "two")
    async let second = api.send(mine)
    try await gate.waitForArrivals(2)
    gate.open()
    #expect(try await first.decode(String.self) == "Bearer one ")
    #expect(try await second.decode(String.self) == "Bearer two ")
  }

  @Test("A call without credentials is not coalesced with a call with credentials")
  func without() async throws {
    let stub = stub
    let api = client(stub)
    async let first = api.send(mine)
    try await gate.waitForArrivals(1)
    async let second = api.send(mine.credentials(.none))
    try await gate.waitForArrivals(2)
    gate.open()
    #expect(try await first.decode(String.self) == "Bearer one ")
    #expect(try await second.decode(String.self) == "none ")
  }

  @Test("Calls with equal heads and different content are not coalesced")
  func otherContent() async throws {
    let stub = stub
    let api = client(stub)
    let save = Request<Content>(method: .post, path: "/save", mapping: .content).id("save", onDuplicate: .coalesce)
    async let first = api.send(save.content(.text("a")))
    try await gate.waitForArrivals(1)
    async let second = api.send(save.content(.text("b")))
    try await gate.waitForArrivals(2)
    gate.open()
    #expect(try await first.decode(String.self) == "Bearer one a")
    #expect(try await second.decode(String.self) == "Bearer one b")
  }

  @Test("A call is not coalesced with an exchange whose calls have all been cancelled")
  func abandoned() async throws {
    let stub = StubTransport()
    let closing = Gate()
    let api = client(stub)
    stub.on { _, _ in
      true
    } reply: { exchange in
      guard exchange.id == 0 else { return .json(#""fresh""#) }
      // The transport does not end immediately when it is cancelled.
      await Task { try? await closing.wait() }.value
      throw CancellationError()
    }
    async let first = failure { try await api.send(mine) }
    try await stub.waitForExchanges(1)
    try await closing.waitForArrivals(1)
    api.calls.cancelAll()
    #expect(await first?.code == .cancelled)
    #expect(try await api.send(mine).decode(String.self) == "fresh")
    closing.open()
  }

  private func waitUntilCoalesced(_ api: Client) async throws {
    try await waitWhile {
      api.calls.all.allSatisfy { entry in
        !entry.trace.events.contains { if case .coalesced = $0.kind { true } else { false } }
      }
    }
  }
}
