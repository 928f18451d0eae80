// swift-format-ignore-file
// The sample '1' of Sources/ApusTestServer/Server/TestServer.swift. Written by `make samples`; do not edit.

import Apus
import Foundation
import ApusTestServer
import Testing

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

// For the samples in ApusTestServer's documentation.
private let gate = Gate()

private let server: TestServer = { fatalError("samples are compiled, not run") }()

private func sample() async throws {
  try await TestServer.with { request in
    request.number == 0 ? .status(503) : .json("[]")
  } body: { server in
    // … call server.origin …
    #expect(server.exchanges.map(\.status) == [503, 200])
  }
}
