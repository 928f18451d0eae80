import Apus
import ApusTesting
import FriendsScreen
import FriendsService
import Testing

@MainActor @Suite struct FriendsModelTests {
  private let stub = StubTransport()
  private let model: FriendsModel
  private let client: Client

  init() {
    // The client does not retry, so that a failed load is an error immediately.
    client = Client(baseURL: "https://friends.test", transport: stub) { $0.retry = .none }
    model = FriendsModel(service: LiveFriendsService(client: client))
  }

  private func page(_ names: String...) -> StubReply {
    let items = names.enumerated().map { #"{"id":\#($0),"name":"\#($1)"}"# }.joined(separator: ",")
    return .json(#"{"items":[\#(items)],"page":1,"total_pages":1,"total_results":\#(names.count)}"#)
  }

  @Test("A load displays the friends and stops the spinner")
  func load() async {
    stub.on(.get, "/friends", reply: page("Ada", "Grace"))
    await model.reload()
    #expect(model.friends.map(\.name) == ["Ada", "Grace"])
    #expect(!model.isLoading)
    #expect(model.errorText == nil)
  }

  @Test("A second tap displays one result, and the superseded load does not stop the spinner")
  func tapAgain() async throws {
    let (slow, fast) = (Gate(), Gate())
    stub.on(.get, "/friends", replies: [page("old").waiting(for: slow), page("new").waiting(for: fast)])
    async let first: Void = model.reload()
    try await slow.waitForArrivals(1)
    async let second: Void = model.reload()
    await first
    #expect(model.isLoading)
    #expect(model.revision == 0)
    #expect(model.errorText == nil)
    fast.open()
    await second
    #expect(!model.isLoading)
    #expect(model.friends.map(\.name) == ["new"])
    #expect(model.revision == 1)
  }

  @Test("A failed load displays an error and leaves the friends unchanged; the next load clears the error")
  func failure() async {
    stub.on(.get, "/friends", replies: [page("Ada"), .status(503), page("Grace")])
    await model.reload()
    await model.reload()
    #expect(model.errorText == "The server has a problem. Try again later.")
    #expect(model.friends.map(\.name) == ["Ada"])
    #expect(!model.isLoading)
    await model.reload()
    #expect(model.errorText == nil)
    #expect(model.friends.map(\.name) == ["Grace"])
  }

  @Test("A cancelled load displays no error")
  func cancelled() async throws {
    stub.on(.get, "/friends", reply: .stalled)
    async let load: Void = model.reload()
    try await stub.waitForExchanges(1)
    client.calls.cancelAll()
    await load
    #expect(model.errorText == nil)
    #expect(!model.isLoading)
  }

  @Test("A tap starts a load")
  func tap() async throws {
    stub.on(.get, "/friends", reply: page("Ada"))
    model.tapReload()
    try await stub.waitForExchanges(1)
    await model.reload()
    #expect(model.friends.map(\.name) == ["Ada"])
  }

  @Test("A friend is removed from the list after the server removed it")
  func remove() async throws {
    stub.on(.get, "/friends", reply: page("Ada", "Grace"))
    stub.on(template: "DELETE /friends/{}", replies: [.status(404), .status(204)])
    await model.reload()
    let ada = try #require(model.friends.first)
    await model.remove(ada)
    #expect(model.friends.count == 2)
    #expect(model.errorText == "What you are looking for is not there.")
    await model.remove(ada)
    #expect(model.friends.map(\.name) == ["Grace"])
    #expect(model.errorText == nil)
  }
}
