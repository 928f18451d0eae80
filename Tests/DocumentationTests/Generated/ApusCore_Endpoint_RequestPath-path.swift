// swift-format-ignore-file
// The sample 'path' of Sources/ApusCore/Endpoint/RequestPath.swift. Written by `make samples`; do not edit.

import Apus
import Foundation
import ApusCore

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

private func sample() async throws {
  let _: Request<[User]> = .get("/users/\(id)/friends")          // template /users/{}/friends
  let _: Request<[User]> = .get("/users/\(id, "id")?fields=all") // template /users/{id}; text behind ? goes to the query
}
