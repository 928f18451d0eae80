// swift-format-ignore-file
// The sample '1' of Sources/ApusTestServer/Faults/Fault.swift. Written by `make samples`; do not edit.

import Apus
import Foundation
import ApusTestServer

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

// For the samples in ApusTestServer's documentation.
private let gate = Gate()

private let server: TestServer = { fatalError("samples are compiled, not run") }()

private func sample() async throws {
  let options = TestServer.Options(faults: [
    Fault(at: .connect, .reset, on: .connection(0)),                // the first connection, immediately
    Fault(at: .responseContent(after: 4), .truncate(), on: .path("/users")),
    Fault(at: .responseHead, .stall(until: gate)),                  // every other response
  ])
  _ = options
}
