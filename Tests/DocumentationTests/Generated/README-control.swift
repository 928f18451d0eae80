// swift-format-ignore-file
// The sample 'control' of README.md. Written by `make samples`; do not edit.

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

private struct Order: Codable, Sendable { var item: String }

private extension Endpoint where Self == Request<Order> {
  static func order(_ order: Order) -> Self { .post("/orders", content: .json(order)).idempotencyKey() }
}

private extension Endpoint where Self == Request<Data> {
  static func poster(_ name: String) -> Self { .get("/posters/\(name)").tag("images").priority(.low) }
}

private func sample() async throws {
  let scheduler = Scheduler(.apps)  // 64 calls at a time, 5 per origin
  let shop = Client(baseURL: "https://shop.example.com/v1") {
    $0.suit(.app)  // .server is the default on Linux
    $0.scheduler = scheduler
  }
  scheduler.hold("images")
  defer { scheduler.release("images") }
  let orders = try await withDeadline(.seconds(5)) { try await shop.send(Request<[Order]>.get("/orders")) }
  print(shop.describe())  // every middleware, its settings, and settings that conflict
  _ = scheduler
  _ = shop
  _ = orders
}
