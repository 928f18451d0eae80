// swift-format-ignore-file
// The sample 'struct' of Sources/ApusCore/ApusCore.docc/ChoosingAnEndpointStyle.md. Written by `make samples`; do not edit.

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

private struct SearchMovies: Endpoint {
  var text: String
  var year: Int?
  var request: Request<[Movie]> { .get("/search/movie", query: ["query": text, "year": year]) }
}

private func sample() async throws {
  let movies = try await api.send(SearchMovies(text: "war", year: nil))
  _ = movies
}
