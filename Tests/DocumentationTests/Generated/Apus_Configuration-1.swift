// swift-format-ignore-file
// The sample '1' of Sources/Apus/Configuration.swift. Written by `make samples`; do not edit.

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

private func sample() async throws {
  let api = Client(baseURL: "https://api.example.com/v1") {
    $0.authentication = .bearer(tokens)
    $0.timeout = .seconds(10)
  }
  _ = api
}
