import Backend
import Testing

@Suite struct FriendTests {
  @Test func `Friends come in pages`() async throws {
    try await withBackend(.testing { $0.friendsPerAccount = 23 }) { _, client in
      let token = try await client.signIn().access
      let first = try await client.get("/friends", token: token).json()
      #expect(first.names == ["items", "page", "total_pages", "total_results"])
      #expect(first["items"]?.items.count == 10)
      #expect(first["total_results"]?.int == 23)
      #expect(first["total_pages"]?.int == 3)
      let last = try await client.get("/friends?page=3", token: token).json()
      #expect(last["items"]?.items.count == 3)
      #expect(last["page"]?.int == 3)
      let beyond = try await client.get("/friends?page=4", token: token).json()
      #expect(beyond["items"]?.items.isEmpty == true)
      let one = try await client.get("/friends?page=1&per_page=23", token: token).json()
      #expect(Set(one["items"]?.items.compactMap { $0["name"]?.string } ?? []).count == 23)
    }
  }

  @Test func `A friend is added, found and removed once`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      let added = try await client.post("/friends", #"{"name": "Zoe", "email": "zoe@example.com"}"#, token: token)
      #expect(added.status == 201)
      let friend = try added.json()
      #expect(friend.names == ["id", "name", "email", "category"])
      #expect(friend["category"] == .null)
      let path = try #require(added["location"])
      #expect(try await client.get(path, token: token).json() == friend)
      #expect(try await client.send("DELETE", path, token: token).status == 204)
      #expect(try await client.send("DELETE", path, token: token).status == 404)
      #expect(try await client.get("/friends", token: token).json()["total_results"]?.int == 0)
    }
  }

  @Test func `A friend is moved to a category and out again`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      let id = try #require(try await client.post("/friends", #"{"name": "Zoe"}"#, token: token).json()["id"]?.int)
      _ = try await client.post("/friends", #"{"name": "Yan"}"#, token: token)
      let path = "/friends/\(id)/category"
      let put = try await client.send("PUT", path, json: #"{"category": "chess & tea"}"#, token: token)
      #expect(try put.json()["category"] == .string("chess & tea"))
      let listed = try await client.get("/friends?category=chess%20%26+tea", token: token).json()
      #expect(listed["items"]?.items.compactMap { $0["name"]?.string } == ["Zoe"])
      let categories = try await client.get("/friends/categories", token: token).json()
      #expect(categories["items"] == .array([.object(["name": .string("chess & tea"), "count": .number(1)])]))
      #expect(try await client.send("PUT", path, json: "{}", token: token).status == 422)
      #expect(try await client.send("PUT", path, json: #"{"category": ""}"#, token: token).status == 422)
      let none = try await client.send("PUT", path, json: #"{"category": null}"#, token: token)
      #expect(try none.json()["category"] == .null)
    }
  }

  @Test func `Friends of another account are not found`() async throws {
    try await withBackend(.testing { $0.friendsPerAccount = 1 }) { _, client in
      let ann = try await client.signIn().access
      let bob = try await client.signIn(name: "Bob", email: "bob@example.com").access
      let list = try await client.get("/friends", token: ann).json()
      let id = try #require(list["items"]?.items.first?["id"]?.int)
      #expect(try await client.get("/friends/\(id)", token: bob).status == 404)
      #expect(try await client.send("DELETE", "/friends/\(id)", token: bob).status == 404)
      let put = try await client.send("PUT", "/friends/\(id)/category", json: #"{"category": "x"}"#, token: bob)
      #expect(put.status == 404)
      #expect(try await client.get("/friends/\(id)", token: ann).status == 200)
    }
  }

  @Test func `Invalid input is rejected with the reasons`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      let answer = try await client.post("/friends", #"{"name": " ", "email": "x"}"#, token: token)
      #expect(answer.status == 422)
      #expect(try answer.json()["errors"]?.items.compactMap { $0["field"]?.string } == ["name", "email"])
      for query in ["page=0", "page=x", "per_page=101", "page="] {
        #expect(try await client.get("/friends?\(query)", token: token).status == 422)
      }
      for id in ["0", "-1", "x", "99999999999999999999", "1%00"] {
        #expect(try await client.get("/friends/\(id)", token: token).status == 404)
      }
    }
  }

  @Test(arguments: ["GET /friends", "POST /friends", "GET /friends/categories", "DELETE /friends/1"])
  func `Requests without a token are rejected`(line: String) async throws {
    try await withBackend { (_, client) async throws in
      let parts = line.split(separator: " ").map(String.init)
      #expect(try await client.send(parts[0], parts[1]).status == 401)
    }
  }
}
