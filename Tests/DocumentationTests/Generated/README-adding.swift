// swift-format-ignore-file
// The sample 'adding' of README.md. Written by `make samples`; do not edit.

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

private struct Filter: Codable, Sendable {
  var year: Int?
  var genres: [String]
}

private let api = Client(baseURL: "https://api.example.com/v1")

private let tokens = MemoryCredentials(token: "secret")

private let me = 1

private let id = 1

private let page = 1

private let filter = Filter(year: nil, genres: ["drama"])

private struct NewFriend: Codable, Sendable { let name: String }

private extension Endpoint where Self == Request<User> {
  static func addFriend(_ friend: NewFriend) -> Self { .post("/friends", content: .json(friend)) }
}

private extension Endpoint where Self == Request<Void> {
  static func removeFriend(_ id: User.ID) -> Self { .delete("/friends/\(id)") }
}

private func sample() async throws {
  try await api.send(.removeFriend(id))
}
