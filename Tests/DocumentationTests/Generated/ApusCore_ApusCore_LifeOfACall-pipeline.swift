// swift-format-ignore-file
// The sample 'pipeline' of Sources/ApusCore/ApusCore.docc/LifeOfACall.md. Written by `make samples`; do not edit.

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

private struct Signing: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    try request.addField(RawField("X-Signature", "…"))
    return try await next(request, context: context)
  }
}

private func sample() async throws {
  let signed = Client(baseURL: "https://api.example.com") {
    $0.customizePipeline = { pipeline in pipeline.insert(Signing(), .beforeTransport) }
  }
  _ = signed
}
