// swift-format-ignore-file
// The sample '1' of Sources/ApusNIO/Transport/EventLoops.swift. Written by `make samples`; do not edit.

import Apus
import Foundation
import ApusNIO

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

private func sample() async throws {
  let transport = NIOTransport()
  let executor = transport.executor()
  let client = Client(baseURL: "https://api.example.com/v1", transport: transport) {
    $0.settings.runtime.executor = executor
  }
  let friends = try await withTaskExecutorPreference(executor) {
    try await client.send(Request<[User]>.get("/users/7/friends"))
  }
  _ = transport
  _ = executor
  _ = client
  _ = friends
}
