// swift-format-ignore-file
// The sample 'modifiers' of Sources/Apus/Apus.docc/FirstClient.md. Written by `make samples`; do not edit.

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

private struct SearchResult: Decodable, Sendable {
  var movies: [Movie]
  var total: Int
}

private extension Endpoint where Self == Request<SearchResult> {
  static func search(_ text: String, page: Int = 1) -> Self {
    .get("/search", query: ["q": text, "page": page])
  }
}

private extension Endpoint where Self == Request<Movie> {
  static func movie(_ id: Movie.ID) -> Self { .get("/movies/\(id)") }
  static func add(_ movie: Movie) -> Self { .post("/movies", content: .json(movie)) }
}

private func sample() async throws {
  let result = try await api.send(.search("war").latestWins("search"))     // a newer search supersedes this one
  let patient = try await api.send(.movie(7).timeout(.seconds(5)).tag("details"))
  api.calls.cancel(tag: "details")                                         // cancels every running call with the tag
  _ = result
  _ = patient
}
