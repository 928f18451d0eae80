// swift-format-ignore-file
// The sample 'reply' of Sources/ApusTestServer/Reply/Reply.swift. Written by `make samples`; do not edit.

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
  let _: Reply = Reply.json(#"{"id":1}"#)                                        // a proper response
    .interim(103, fields: ["Link": "</style.css>"])               // … after an early hint
    .waiting(for: gate)                                           // … held until the gate opens
    .resetting(at: .content(4))                                   // … and broken off after four bytes
}
