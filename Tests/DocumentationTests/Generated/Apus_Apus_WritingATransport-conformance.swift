// swift-format-ignore-file
// The sample 'conformance' of Sources/Apus/Apus.docc/WritingATransport.md. Written by `make samples`; do not edit.

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

private struct LegacyTransport: Transport {
  let perform: @Sendable (HTTPRequest, Data) async throws -> (HTTPResponse, Data)

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    let content: Data
    switch request.content {
    case .empty: content = Data()
    case .bytes(let bytes): content = bytes
    case .file, .stream:
      throw TransportError(.unsupported, requestState: .notSent, detail: "files and streams")
    }
    do {
      let (head, bytes) = try await perform(request.head, content)
      guard bytes.count <= context.contentLimit || !context.collects(head) else {
        throw TransportError.contentTooLarge(limit: context.contentLimit)
      }
      return ResponseMessage(head: head, content: ResponseContent(bytes))
    } catch let error as TransportError {
      throw error
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw TransportError(.broken, requestState: .maybeSent, detail: "the exchange failed", underlying: error)
    }
  }
}

private func check(_ makeServer: () async throws -> any ConformanceServer) async throws {
  for check in TransportConformance.checks(lacking: [.interimResponses, .trailers]) {
    let transport = LegacyTransport { _, _ in (HTTPResponse(status: .noContent), Data()) }
    try await check.run(transport, try await makeServer())
  }
}

private func sample() async throws {
  let client = Client(
    baseURL: "https://api.example.com/v1",
    transport: LegacyTransport { _, _ in (HTTPResponse(status: .noContent), Data()) })
  _ = client
}
