// Declarations that every sample may use. This file is not compiled: scripts/samples.py copies each declaration into the
// file of each sample that does not declare the same name.
import Apus
import Foundation

struct User: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var name: String
}

struct Movie: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var title: String
}

struct MoviePage: Codable, Sendable {
  var number: Int
  var total: Int
  var movies: [Movie]
}

extension Endpoint where Self == Request<User> {
  static func user(_ id: User.ID) -> Self { .get("/users/\(id)") }
}

extension Endpoint where Self == Request<[User]> {
  static var users: Self { .get("/users") }
}

extension Endpoint where Self == Request<MoviePage> {
  static func movies(page: Int) -> Self { .get("/movies", query: ["page": page]) }
}

struct Filter: Codable, Sendable {
  var year: Int?
  var genres: [String]
}

let api = Client(baseURL: "https://api.example.com/v1")

let tokens = MemoryCredentialsStore(token: "secret")

let key = MemoryCredentialsStore(token: "secret")

let operators = MemoryCredentialsStore(.password(user: "ada", "secret"))

let me = 1

let id = 1

let page = 1

let filter = Filter(year: nil, genres: ["drama"])

func show(_ things: [some Sendable]) {}
