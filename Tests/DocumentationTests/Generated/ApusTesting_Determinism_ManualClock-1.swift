// swift-format-ignore-file
// The sample '1' of Sources/ApusTesting/Determinism/ManualClock.swift. Written by `make samples`; do not edit.

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

private let stub = StubTransport()

private let gate = Gate()

private nonisolated(unsafe) var settings = ClientSettings()

private enum LoopbackServer {
  static func start() async throws -> any ConformanceServer { throw CancellationError() }
}

private struct MyTransport: Transport {
  func send(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
    throw CancellationError()
  }
}

private func sample() async throws {
  let clock = ManualClock()
  var settings = ClientSettings()
  settings.runtime.clock = clock
  // … a call sleeps until its deadline …
  try await clock.waitForSleepers(1)
  clock.advance(by: .seconds(30))
  _ = clock
  _ = settings
}
