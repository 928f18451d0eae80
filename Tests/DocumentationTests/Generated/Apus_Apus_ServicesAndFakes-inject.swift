// swift-format-ignore-file
// The sample 'inject' of Sources/Apus/Apus.docc/ServicesAndFakes.md. Written by `make samples`; do not edit.

import Apus
import Foundation

private struct User: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var name: String
}

private struct Movie: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var title: String
}

private struct MoviePage: Codable, Sendable {
  var number: Int
  var total: Int
  var movies: [Movie]
}

private extension Endpoint where Self == Request<User> {
  static func user(_ id: User.ID) -> Self { .get("/users/\(id)") }
}

private extension Endpoint where Self == Request<[User]> {
  static var users: Self { .get("/users") }
}

private extension Endpoint where Self == Request<MoviePage> {
  static func movies(page: Int) -> Self { .get("/movies", query: ["page": page]) }
}

private struct Filter: Codable, Sendable {
  var year: Int?
  var genres: [String]
}

private let api = Client(baseURL: "https://api.example.com/v1")

private let tokens = MemoryCredentials(token: "secret")

private let key = MemoryCredentials(token: "secret")

private let operators = MemoryCredentials(.password(user: "ada", "secret"))

private let me = 1

private let id = 1

private let page = 1

private let filter = Filter(year: nil, genres: ["drama"])

private struct Session: Codable, Sendable {
  var accessToken = "secret"
}

private let session = Session()

private func show(_ things: [some Sendable]) {}

private protocol MoviesService: Sendable {
  func movie(_ id: Movie.ID) async throws(CallError) -> Movie
  func rate(_ id: Movie.ID, stars: Int) async throws(CallError)
}

private struct Rating: Encodable, Sendable { var stars: Int }

private struct LiveMoviesService: MoviesService {
  let api: Client

  func movie(_ id: Movie.ID) async throws(CallError) -> Movie {
    try await api.send(.get("/movies/\(id)"))
  }

  func rate(_ id: Movie.ID, stars: Int) async throws(CallError) {
    try await api.send(.put("/movies/\(id)/rating", content: .json(Rating(stars: stars))))
  }
}

@MainActor
private final class MovieModel {
  let service: any MoviesService
  private(set) var title = ""
  private(set) var errorText: String?

  init(service: any MoviesService) { self.service = service }

  func load(_ id: Movie.ID) async {
    do throws(CallError) {
      title = try await service.movie(id).title
    } catch {
      if !error.isCancellation { errorText = error.sentence }
    }
  }
}

@MainActor
private func sample() async throws {
  let model = MovieModel(service: LiveMoviesService(api: api))
  await model.load(7)
  _ = model
}
