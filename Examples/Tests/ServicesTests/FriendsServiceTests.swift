import Apus
import ApusTesting
import FriendsService
import Testing

@Suite struct FriendsServiceTests {
  private let stub = StubTransport()
  private let offline = StubReply.failure(TransportError(.offline, requestState: .notSent))
  private var friends: LiveFriendsService { service(.none) }

  private func service(_ retry: RetryPolicy) -> LiveFriendsService {
    LiveFriendsService(client: Client(baseURL: "https://friends.test/v1", transport: stub) { $0.retry = retry })
  }

  @Test("The first page is requested and decoded")
  func firstPage() async throws {
    stub.on(
      .get, "/v1/friends?page=1",
      reply: .json(
        #"{"items":[{"id":7,"name":"Ada","email":null,"category":"work"}],"page":1,"total_pages":4,"total_results":40}"#
      ))
    let page = try await friends.latestFriends(in: nil)
    #expect(page.items == [Friend(id: 7, name: "Ada", category: "work")])
    #expect(page.totalPages == 4)
    #expect(page.totalResults == 40)
    #expect(!page.isLast)
  }

  @Test("A group's name is encoded in the query")
  func group() async throws {
    stub.onAny(reply: .json(#"{"items":[],"page":1,"total_pages":0,"total_results":0}"#))
    _ = try await friends.latestFriends(in: "chess & tea")
    #expect(stub.exchanges.map(\.target) == ["/v1/friends?page=1&category=chess%20%26%20tea"])
  }

  @Test("A newer load supersedes an older one")
  func latestWins() async throws {
    let gate = Gate()
    let empty = StubReply.json(#"{"items":[],"page":1,"total_pages":0,"total_results":0}"#)
    stub.on(.get, "/v1/friends", replies: [empty.waiting(for: gate), empty])
    let friends = friends
    let older = Task { try await friends.latestFriends(in: nil) }
    try await gate.waitForArrivals(1)
    _ = try await friends.latestFriends(in: nil)
    let error = await #expect(throws: CallError.self) { try await older.value }
    #expect(error?.cancellation == .superseded)
  }

  /// Returns the first page with one friend.
  private func page(_ name: String) -> StubReply {
    .json(#"{"items":[{"id":7,"name":"\#(name)"}],"page":1,"total_pages":1,"total_results":1}"#)
  }

  private func friendsWithCache() -> LiveFriendsService {
    let client = Client(baseURL: "https://friends.test/v1", transport: stub) {
      $0.retry = .none
      $0.cache = ResponseCache()
    }
    return LiveFriendsService(client: client)
  }

  @Test("Without a network the stored page is outdated; a reload gets the present page")
  func storedPage() async throws {
    stub.on(.get, "/v1/friends", replies: [page("Ada"), offline, page("Grace")])
    let friends = friendsWithCache()
    let first = try await friends.friendsOnScreen(reloading: false)
    #expect(!first.isOutdated)
    let stored = try await friends.friendsOnScreen(reloading: false)
    #expect(stored == FriendsOnScreen(page: first.page, isOutdated: true))
    let fresh = try await friends.friendsOnScreen(reloading: true)
    #expect(fresh.page.items.map(\.name) == ["Grace"])
    #expect(!fresh.isOutdated)
  }

  @Test("After a change the page that was stored before is not shown")
  func changedPage() async throws {
    stub.on(.get, "/v1/friends", replies: [page("Ada"), offline])
    stub.on(.delete, "/v1/friends/7", reply: .status(204))
    let friends = friendsWithCache()
    _ = try await friends.friendsOnScreen(reloading: false)
    try await friends.remove(7)
    let error = await #expect(throws: CallError.self) { try await friends.friendsOnScreen(reloading: false) }
    #expect(error?.code == .offline)
  }

  @Test("An added friend is returned with an id")
  func add() async throws {
    stub.on(.post, "/v1/friends", reply: .json(#"{"id":9,"name":"Grace","email":null,"category":null}"#, status: 201))
    guard case .accepted(let friend) = try await friends.add(NewFriend(name: "Grace")) else {
      Issue.record("the friend was not accepted")
      return
    }
    #expect(friend == Friend(id: 9, name: "Grace"))
    #expect(stub.exchanges.first?.text == #"{"name":"Grace"}"#)
  }

  @Test("All attempts to add a friend send the same idempotency key, and each friend has a new key")
  func keys() async throws {
    let grace = StubReply.json(#"{"id":9,"name":"Grace","email":null,"category":null}"#, status: 201)
    stub.on(.post, "/v1/friends", replies: [.status(503), grace, grace])
    let friends = service(RetryPolicy(baseDelay: .zero))
    for _ in 0..<2 { _ = try await friends.add(NewFriend(name: "Grace")) }
    let keys = stub.exchanges.compactMap { $0.field("Idempotency-Key") }
    #expect(keys.count == 3)
    #expect(keys.first == keys.dropFirst().first)
    #expect(Set(keys).count == 2)
  }

  @Test("A rejected form is returned as a value")
  func rejection() async throws {
    stub.on(
      .post, "/v1/friends",
      reply: .json(
        #"{"title":"Unprocessable Content","errors":[{"field":"name","message":"is empty"}]}"#, status: 422,
        fields: ["Content-Type": "application/problem+json"]))
    guard case .rejected(let rejection) = try await friends.add(NewFriend(name: "")) else {
      Issue.record("the friend was accepted")
      return
    }
    #expect(rejection.errors == [FriendRejection.Problem(field: "name", message: "is empty")])
  }

  @Test("A server failure is thrown, not returned as a rejected form")
  func failure() async throws {
    stub.on(.post, "/v1/friends", reply: .json(#"{"detail":"out of order"}"#, status: 500))
    let error = await #expect(throws: CallError.self) { try await friends.add(NewFriend(name: "Grace")) }
    #expect(error?.status == 500)
    #expect(error?.errorDescription == "The server has a problem. Try again later.")
  }

  @Test("Removing a friend from all groups sends null")
  func noGroup() async throws {
    stub.on(template: "PUT /friends/{}/category", reply: .json(#"{"id":7,"name":"Ada"}"#))
    _ = try await friends.put(7, in: nil)
    #expect(stub.exchanges.map(\.target) == ["/v1/friends/7/category"])
    #expect(stub.exchanges.first?.text == #"{"category":null}"#)
  }

  @Test("Groups are decoded from the member items")
  func groups() async throws {
    stub.on(.get, "/v1/friends/categories", reply: .json(#"{"items":[{"name":"work","count":3}]}"#))
    #expect(try await friends.categories() == [FriendCategory(name: "work", count: 3)])
  }

  @Test("The response to a removal needs no content")
  func remove() async throws {
    stub.on(.delete, "/v1/friends/7", reply: .status(204))
    try await friends.remove(7)
    #expect(stub.exchanges.count == 1)
  }
}
