// swift-format-ignore-file
// The sample 'first' of README.md. Written by `make samples`; do not edit.

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

private func friends(of id: User.ID) -> Request<[User]> { .get("/users/\(id)/friends") }

private func sample() async throws {
  let tokens = MemoryCredentials()  // filled by a sign-in
  let api = Client(baseURL: "https://api.example.com/v1") {
    $0.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }  // one refresh for any number of 401s
  }
  do throws(CallError) {
    print(try await api.send(friends(of: me).latestWins("friends")))  // a newer call supersedes this one
  } catch {
    if !error.isCancellation { print(error.sentence) }  // a sentence for people; `error` is a CallError
  }
  _ = tokens
  _ = api
}
