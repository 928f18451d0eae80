import Apus
import ApusTesting
import Testing

@Suite("12: services over an injected client")
struct Capability12ServicesTests {
  private let stub = StubTransport()
  private var friends: RemoteFriends {
    RemoteFriends(api: Client(baseURL: "https://example.test", transport: stub) { $0.retry = .none })
  }

  @Test("With a stub, a test checks the requests and results of a service")
  func stubbed() async throws {
    stub.on(.post, "/users/7/friends", reply: .json(#"{"id":2,"name":"Bob"}"#, status: 201))
    #expect(try await friends.add("Bob", to: 7) == Friend(id: 2, name: "Bob"))
    #expect(stub.exchanges.map(\.text) == [#"{"name":"Bob"}"#])
  }

  @Test("A service throws the call's error")
  func errors() async throws {
    stub.onAny(reply: .failure(TransportError(.offline, requestState: .notSent)))
    let error = await failure { try await friends.friends(of: 7) }
    #expect(error?.code == .offline)
  }
}
