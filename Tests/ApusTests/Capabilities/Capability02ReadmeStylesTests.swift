import Apus
import ApusTestServer
import Testing

private struct Movie: Codable, Sendable, Identifiable, Equatable {
  let id: Int
  let title: String
}

// begin
extension Endpoint where Self == Request<User> {
  fileprivate static func user(_ id: User.ID) -> Self { .get("/users/\(id)") }
}
// end

/// A scope for the README's types.
private enum Readme {
  // begin
  struct GetUser: Endpoint {
    let id: User.ID
    var request: Request<User> { .get("/users/\(id)") }
  }

  enum MovieAPI: Endpoint {
    case popular(page: Int)
    case movie(Movie.ID)
    var request: Request<Content> {
      switch self {
      case .popular(let page): .get("/movie/popular", query: ["page": page])
      case .movie(let id): .get("/movie/\(id)")
      }
    }
  }

  protocol FriendsService: Sendable {
    func friends(of id: User.ID) async throws(CallError) -> [User]
  }
  // end
}

private struct Friends: Readme.FriendsService {
  let api: Client
  func friends(of id: User.ID) async throws(CallError) -> [User] {
    try await api.send(Request.get("/users/\(id)/friends"))
  }
}

@Suite("2: the five styles in the README")
struct Capability02ReadmeStylesTests {
  private typealias GetUser = Readme.GetUser
  private typealias MovieAPI = Readme.MovieAPI

  @Test("The README contains exactly the tested lines of the five styles, and each returns its value")
  func styles() async throws {
    let (ann, film) = (User(id: 7, name: "Ann"), Movie(id: 7, title: "A"))
    try await TestServer.with {
      switch $0.path {
      case "/users/7": .json(#"{"id":7,"name":"Ann"}"#)
      case "/users/7/friends": .json(#"[{"id":7,"name":"Ann"}]"#)
      default: .json(#"{"id":7,"title":"A"}"#)
      }
    } body: { server in
      let (api, id) = (server.client(), 7)
      // begin
      let inline: User = try await api.send(.get("/users/\(id)"))
      let made = try await api.send(.user(id))
      let typed = try await api.send(GetUser(id: id))
      let movie = try await api.send(MovieAPI.movie(id), as: Movie.self)
      // end
      let service: any Readme.FriendsService = Friends(api: api)
      let friends = try await service.friends(of: id)
      #expect([inline, made, typed] == [ann, ann, ann])
      #expect(movie == film)
      #expect(friends == [ann])
      #expect(
        server.exchanges.map(\.target) == ["/users/7", "/users/7", "/users/7", "/movie/7", "/users/7/friends"])
    }
    #expect(try ReadmeSample.lines("styles").sorted() == (try ReadmeSample.marked()).sorted())
  }
}
