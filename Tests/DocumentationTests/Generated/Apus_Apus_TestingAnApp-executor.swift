// swift-format-ignore-file
// The sample 'executor' of Sources/Apus/Apus.docc/TestingAnApp.md. Written by `make samples`; do not edit.

import Apus
import Foundation
import ApusTesting

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
  let executor = ManualExecutor()
  let stub = StubTransport()
  stub.onAny(answer: .json("[]"))
  let client = Client(baseURL: "https://example.test", transport: stub) {
    $0.settings.runtime.executor = executor
  }
  let call = Task(executorPreference: executor) { try await client.send(.users) }
  executor.run(jobs: 2)                       // two steps of the call
  client.calls.cancelAll()
  executor.runAll()
  _ = executor
  _ = stub
  _ = client
  _ = call
}
