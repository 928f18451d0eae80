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
  let _: Reply = Reply.json(#"{"id":1}"#)                                        // a proper answer
    .interim(103, fields: ["Link": "</style.css>"])               // … after an early hint
    .waiting(for: gate)                                           // … which comes when the gate opens
    .resetting(at: .content(4))                                   // … and breaks off after four bytes
}
