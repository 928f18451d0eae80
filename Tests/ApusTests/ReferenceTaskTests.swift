import Apus
import ApusTestServer
import Testing

// begin
private let tokens = MemoryCredentialsStore()  // what a sign-in gives is set here
private let api = Client(baseURL: "https://api.example.com/v1") {
  $0.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }  // one refresh for any number of 401s
}
private func friends(of id: User.ID) -> Request<[User]> { .get("/users/\(id)/friends") }
// end

@MainActor private func load(friendsOf me: User.ID) async {
  // begin
  do throws(CallError) {
    print(try await api.send(friends(of: me).latestWins("friends")))  // a newer call supersedes this one
  } catch {
    if !error.isCancellation { print(error.message) }
  }
  // end
}

// Captures the output of the sample.
@MainActor private var shown: [String] = []
@MainActor private func print(_ people: [User]) { shown.append(people.map(\.name).joined(separator: ",")) }
@MainActor private func print(_ text: String) { shown.append(text) }

@Suite("The reference task", .serialized)
@MainActor
struct ReferenceTaskTests {
  @Test("The reference task (friends list, token refresh, latest tap wins, error message) takes at most ten lines")
  func lines() throws {
    #expect(try ReadmeSample.marked().count <= 10)
  }

  @Test("The README contains exactly the lines of the reference task within its first thirty lines")
  func readme() throws {
    let sample = try ReadmeSample.lines("first")
    #expect(sample == (try ReadmeSample.marked()))
    let first = try ReadmeSample.firstLines(30)
    for line in sample { #expect(first.contains(line)) }
  }

  @Test("The reference task loads the friends, refreshes the token, supersedes the previous call and displays errors")
  func works() async throws {
    let gate = Gate()
    try await TestServer.with { request in
      guard request.path == "/token" || request.fields["Authorization"] == "Bearer new" else {
        return Reply.json(#"{"message":"The token has ended."}"#, status: 401)
      }
      return switch request.path {
      case "/token": .json(#"{"access_token":"new","refresh_token":"next"}"#)
      case "/users/1/friends": Reply.json("[]").waiting(for: gate)
      case "/users/2/friends": .json(#"[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]"#)
      default: .json(#"{"message":"No such user."}"#, status: 404)
      }
    } body: { server in
      tokens.set(Tokens(access: "old", refresh: "once"))
      var environment = api.environment
      environment.baseURL = BaseURL(stringLiteral: server.origin)
      api.use(environment)
      let first = Task { await load(friendsOf: 1) }
      let exchange = try await server.exchange {
        $0.path == "/users/1/friends" && $0.fields["Authorization"] == "Bearer new"
      }
      await load(friendsOf: 2)
      await first.value
      // The response to the first tap never arrives, and the cancellation of that call is not displayed as an error.
      #expect(shown == ["Ann,Bob"])
      try await server.waitForClientClose(of: exchange)
      await load(friendsOf: 3)
      #expect(shown == ["Ann,Bob", "No such user."])
      // The first call's token was expired and refreshed without an error in the app.
      let refreshes = server.exchanges.filter { $0.path == "/token" }
      #expect(refreshes.map(\.text) == ["grant_type=refresh_token&refresh_token=once"])
      #expect(refreshes.map { $0.fields["Authorization"] } == [nil])
      #expect(server.exchanges.count { $0.fields["Authorization"] == "Bearer old" } == 1)
      #expect(server.exchanges.count == 5)
      gate.open()
    }
  }
}
