import ApusCore
import ApusTesting
import HTTPTypes
import Testing

private struct User: Codable, Sendable, Hashable { var id = 7 }

extension Endpoint where Self == Request<User> {
  fileprivate static func user(_ id: Int) -> Self { .get("/users/\(id)", query: ["full": true]) }
}

private struct GetUser: Endpoint {
  let id: Int
  var request: Request<User> { .get("/users/\(id)", query: ["full": true]) }
}

private enum UserAPI: Endpoint {
  case user(Int)
  case list

  var request: Request<Content> {
    switch self {
    case .user(let id): Request(method: .get, path: "/users/\(id)", query: ["full": true], mapping: .content)
    case .list: Request(method: .get, path: "/users", mapping: .content)
    }
  }
}

private protocol UsersService { func user(_ id: Int) async throws(CallError) -> User }

private struct Users: UsersService {
  let api: Client
  func user(_ id: Int) async throws(CallError) -> User { try await api.send(.user(id)) }
}

private struct Broken: Endpoint {
  struct Reason: Error {}
  var request: Request<User> { get throws { throw Reason() } }
}

private final class Ping: Endpoint {
  var request: Request<User> { .get("/ping") }
}

@Suite("Endpoint styles") struct EndpointStyleTests {
  @Test("An endpoint whose type is known only at run time is sent, and its value is ignored")
  func object() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .json(#"{"id":7}"#))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let endpoint: any Endpoint & AnyObject = Ping()
    let _: Void = try await api.send(endpoint)
    #expect(stub.exchanges.map(\.request.head.path) == ["/ping"])
  }

  @Test("All five endpoint styles send the same message and decode the same value")
  func five() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .json(#"{"id":7}"#))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let inline: User = try await api.send(Request.get("/users/\(7)", query: ["full": true]))
    let values = [
      inline, try await api.send(.user(7)), try await api.send(GetUser(id: 7)),
      try await api.send(UserAPI.user(7), as: User.self), try await Users(api: api).user(7),
    ]
    #expect(values == Array(repeating: User(), count: 5))
    let heads = stub.exchanges.map(\.request.head)
    #expect(heads.count == 5)
    // The call determines the type of the enum endpoint's value, and `Accept` is that of this type.
    #expect(Set(heads).count == 1)
    #expect(heads.first?.path == "/users/7?full=true")
    #expect(Set(stub.exchanges.map(\.endpoint.template)) == ["/users/{}"])
  }

  @Test("Modifiers work on every endpoint style")
  func modifiers() async throws {
    let api = client()
    let requests: [RequestMessage] = [
      try await api.message(for: Request<User>.get("/u").field("X-A", "1").query(["q": 1]).content(.text("t"))),
      try await api.message(for: Request<User>.user(1).field("X-A", "1").query(["q": 1]).content(.text("t"))),
      try await api.message(for: GetUser(id: 1).field("X-A", "1").query(["q": 1]).content(.text("t"))),
      try await api.message(for: UserAPI.list.field("X-A", "1").query(["q": 1]).content(.text("t"))),
    ]
    for message in requests {
      #expect(message.head.headerFields[try #require(HTTPField.Name("x-a"))] == "1")
      #expect(message.target.hasSuffix("q=1"))
      #expect(content(of: message) == "t")
    }
  }

  @Test("An endpoint whose request throws is an invalid request with that cause, also with modifiers")
  func broken() async throws {
    let api = client(answering: .json("{}"))
    for error in [
      await failure { try await api.send(Broken()) },
      await failure { try await api.send(Broken().tag("x").timeout(.seconds(1))) },
      await failure { _ = try await api.message(for: Broken()) },
    ] {
      let error = try #require(error)
      #expect(error.code == .invalidRequest)
      #expect(error.underlying is Broken.Reason)
      #expect(error.requestState == .notSent)
      #expect("\(error.endpoint)" == "Broken GET /")
    }
  }

  @Test("Calls of an enum endpoint can decode different types, determined by an annotation")
  func enumAs() async throws {
    let api = client(answering: .json("[1,2]"))
    let numbers: [Int] = try await api.send(UserAPI.list)
    #expect(numbers == [1, 2])
    let content = try await api.send(UserAPI.list) as Content
    #expect(try content.decode([Double].self) == [1, 2])
  }

  @Test("The identity of an endpoint consists of its type, method and template")
  func identity() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .json(#"{"id":7}"#))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    _ = try await api.send(GetUser(id: 1))
    _ = try await api.send(GetUser(id: 2).tag("x"))
    _ = try await api.send(.user(3))
    _ = try await api.send(GetUser(id: 1).query(["a": 1]))
    let names = stub.exchanges.map(\.endpoint)
    #expect(names[0] == names[1] && names[0] == names[3])
    #expect(names[0] != names[2])
    #expect(Set(names).count == 2)
    #expect(
      names.map(\.description) == [
        "GetUser GET /users/{}", "GetUser GET /users/{}", "GET /users/{}", "GetUser GET /users/{}",
      ])
    #expect(names[2].type == nil)
    #expect(names[0].method == .get)
  }
}
