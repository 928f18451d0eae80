import Apus
import ApusTesting
import FriendsScreen
import FriendsService
import Testing

/// Models and endpoints written in a target that is isolated to the main actor.
@Suite struct MainActorTargetTests {
  private let stub = StubTransport()
  private var client: Client { Client(baseURL: "https://friends.test", transport: stub) }

  @Test("A nonisolated model is decoded off the main actor, with a factory and with a struct")
  func models() async throws {
    stub.on(.get, "/", reply: .json(#"{"name":"staging","films":1500}"#))
    let made = try await client.send(.serverInfo())
    let typed = try await client.send(GetServerInfo())
    #expect(made == typed)
    #expect(made.name == "staging")
  }

  @Test("A struct isolated to the main actor works as long as no client sends or decodes it")
  @MainActor func draft() {
    var draft = FriendDraft()
    draft.name = "Ada"
    #expect(draft.friend == NewFriend(name: "Ada"))
    draft.email = "ada@example.com"
    #expect(draft.friend.email == "ada@example.com")
  }
}
