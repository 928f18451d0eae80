#if NIO && (URLSession || os(Linux))
  import Apus
  import ApusTestServer
  import Testing

  // begin
  private let tokens = MemoryCredentials(token: "…")
  private let api = Client(baseURL: "https://api.example.com/v1") { $0.authentication = .bearer(tokens) }

  extension Endpoint where Self == Request<[User]> {
    fileprivate static func friends(of id: User.ID) -> Self { .get("/users/\(id)/friends") }
  }
  // end

  @MainActor private func load(friendsOf me: User.ID) async {
    // begin
    do throws(CallError) {
      print(try await api.send(.friends(of: me).latestWins("friends")))  // a newer call supersedes this one
    } catch {
      if !error.isCancellation { print(error.sentence) }
    }
    // end
  }

  // What the lines print stays in the test.
  @MainActor private var shown: [String] = []
  @MainActor private func print(_ people: [User]) { shown.append(people.map(\.name).joined(separator: ",")) }
  @MainActor private func print(_ text: String) { shown.append(text) }

  @Suite("The reference task", .serialized)
  @MainActor
  struct ReferenceTaskTests {
    @Test("a friends list with a token, decoded, the latest tap winning, its error shown, takes at most ten lines")
    func lines() throws {
      #expect(try ReadmeSample.marked().count <= 10)
    }

    @Test("the README shows exactly these lines, within its first thirty")
    func readme() throws {
      let sample = try ReadmeSample.lines("first")
      #expect(sample == (try ReadmeSample.marked()))
      let first = try ReadmeSample.firstLines(30)
      for line in sample { #expect(first.contains(line)) }
    }

    @Test("and they do all that")
    func works() async throws {
      let gate = Gate()
      try await TestServer.with { request in
        switch request.path {
        case "/users/1/friends": Reply.json("[]").waiting(for: gate)
        case "/users/2/friends": .json(#"[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]"#)
        default: .json(#"{"message":"No such user."}"#, status: 404)
        }
      } body: { server in
        tokens.set(token: "t0ken")
        var environment = Environment(baseURL: BaseURL(stringLiteral: server.origin))
        environment.authentication = .bearer(tokens)
        api.use(environment)
        let first = Task { await load(friendsOf: 1) }
        let exchange = try await server.exchange()
        await load(friendsOf: 2)
        await first.value
        // The first tap's answer never arrives, nor is its end taken for an error.
        #expect(shown == ["Ann,Bob"])
        try await server.waitForClientClose(of: exchange)
        await load(friendsOf: 3)
        #expect(shown == ["Ann,Bob", "No such user."])
        #expect(server.exchanges.count == 3)
        #expect(server.exchanges.allSatisfy { $0.fields["Authorization"] == "Bearer t0ken" })
        gate.open()
      }
    }
  }
#endif
