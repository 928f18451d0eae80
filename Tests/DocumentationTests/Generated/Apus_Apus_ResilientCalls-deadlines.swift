// swift-format-ignore-file
// The sample 'deadlines' of Sources/Apus/Apus.docc/ResilientCalls.md. Written by `make samples`; do not edit.

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
  // Retried after a lost response, and still one order.
  static func order(_ order: Order) -> Self { .post("/orders", content: .json(order)).idempotencyKey() }
  // The server is known to treat a repeated request as one.
  static func confirm(_ id: Int) -> Self { .post("/orders/\(id)/confirm").idempotent() }
  static func status(_ id: Int) -> Self { .get("/orders/\(id)").retry(.none) }
}

private func sample() async throws {
  let order = try await api.send(.status(7).timeout(.seconds(5)).attemptTimeout(.seconds(2)))
  let both = try await withDeadline(.seconds(8)) {          // one limit for several calls, and all they cause
    (try await api.send(.status(7)), try await api.send(.status(8)))
  }
  _ = order
  _ = both
}
