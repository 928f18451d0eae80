import Apus
import ApusTestServer
import HTTPTypes
import Testing

extension Endpoint where Self == Request<User> {
  fileprivate static func user(_ id: Int) -> Self { .get("/users/\(id)") }
}

private struct GetUser: Endpoint {
  let id: Int
  var request: Request<User> { .get("/users/\(id)") }
}

private enum UserAPI: Endpoint {
  case user(Int)
  case name(Int)

  var request: Request<Content> {
    switch self {
    case .user(let id): .get("/users/\(id)")
    case .name(let id): .get("/users/\(id)/name")
    }
  }
}

private protocol UserService: Sendable {
  func user(_ id: Int) async throws(CallError) -> User
}

private struct RemoteUsers: UserService {
  let api: Client
  func user(_ id: Int) async throws(CallError) -> User { try await api.send(.user(id)) }
}

@Suite("2: five styles of endpoints, one path")
struct Capability02EndpointStylesTests {
  private let ann = User(id: 7, name: "Ann")

  @Test("Inline, leading dot, struct, enum and service send the same request and return the same value")
  func sameRequest() async throws {
    try await withServer(answering: .json(#"{"id":7,"name":"Ann"}"#), path: "/v1") { api, server in
      let id = 7
      let inline: User = try await api.send(Request.get("/users/\(id)"))
      let dot = try await api.send(.user(7))
      let structure = try await api.send(GetUser(id: 7))
      let enumeration = try await api.send(UserAPI.user(7), as: User.self)
      let inferred: User = try await api.send(UserAPI.user(7))
      let service: any UserService = RemoteUsers(api: api)
      let served = try await service.user(7)
      #expect([inline, dot, structure, enumeration, inferred, served] == Array(repeating: ann, count: 6))
      let requests = server.exchanges.map { [$0.method, $0.target, $0.fields["Accept"]] }
      #expect(requests == Array(repeating: ["GET", "/v1/users/7", "application/json"], count: 6))
    }
  }

  @Test("Modifiers work with every style")
  func modifiers() async throws {
    try await withServer(answering: .json(#"{"id":7,"name":"Ann"}"#)) { api, server in
      let inline: User = try await api.send(Request.get("/users/\(7)").field("X-Style", "a").tag("t"))
      let dot = try await api.send(.user(7).timeout(.seconds(90)).field("X-Style", "a"))
      let structure = try await api.send(GetUser(id: 7).latestWins("user").field("X-Style", "a"))
      let enumeration: User = try await api.send(UserAPI.user(7).tag("t").field("X-Style", "a"))
      #expect([inline, dot, structure, enumeration] == Array(repeating: ann, count: 4))
      #expect(server.exchanges.map { $0.fields["X-Style"] } == ["a", "a", "a", "a"])
    }
  }

  @Test("A call of an enum endpoint returns the type that the call names")
  func enumTypes() async throws {
    try await TestServer.with { request in
      request.path.hasSuffix("/name") ? .json(#""Ann""#) : .json(#"{"id":7,"name":"Ann"}"#)
    } body: { server in
      let api = server.client()
      let name = try await api.send(UserAPI.name(7), as: String.self)
      let user: User = try await api.send(UserAPI.user(7))
      #expect(name == "\"Ann\"")
      #expect(user == ann)
    }
  }

  @Test("A trace has the endpoint's method and template, and the type of an endpoint that is not a Request")
  func identities() async throws {
    try await withServer(answering: .json(#"{"id":7,"name":"Ann"}"#)) { api, _ in
      let dot = try await api.response(to: .user(7))
      let structure = try await api.response(to: GetUser(id: 7))
      #expect(dot.trace.endpoint.description == "GET /users/{}")
      #expect(structure.trace.endpoint.description == "GetUser GET /users/{}")
    }
  }
}
