// swift-format-ignore-file
// The sample 'service' of Sources/ApusCore/ApusCore.docc/ChoosingAnEndpointStyle.md. Written by `make samples`; do not edit.

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

private protocol MoviesService: Sendable {
  func movie(_ id: Movie.ID) async throws(CallError) -> Movie
}

private struct LiveMoviesService: MoviesService {
  let api: Client
  func movie(_ id: Movie.ID) async throws(CallError) -> Movie { try await api.send(.get("/movie/\(id)")) }
}
