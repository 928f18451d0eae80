import Apus
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Response faults that must not occur")
struct ResponseFaultsTests {
  private let stub = StubTransport()
  private var api: Client { Client(baseURL: "https://example.test", transport: stub) { $0.retry = .none } }

  @Test("An accepted response with the wrong structure throws an error")
  func neitherValueNorError() async throws {
    for content in [#"{"users":[]}"#, "null", "7", "", "<html>"] {
      stub.onAny(reply: .json(content))
      let error = await failure { try await api.send(Request<[User]>.get("/users")) }
      #expect(error?.code == .decoding)
      #expect(error?.status == 200)
    }
  }

  @Test(
    "Empty, truncated, invalid, too deep or wrongly typed JSON throws an error with the position and the content",
    arguments: [
      ("", nil), (#"[{"id":1,"name":"a"},{"id""#, nil), ("<html>", nil), (String(repeating: "[", count: 10_000), nil),
      ("{}", "the top"), (#"[{"id":1,"name":7}]"#, "[0].name"),
      (#"[{"id":1,"name":"a"},{"id":null,"name":"b"}]"#, "[1].id"),
      (#"[{"id":1,"name":"a"},{"name":"b"}]"#, "[1].id"),
    ] as [(String, String?)])
  func badContent(content: String, place: String?) async throws {
    stub.onAny(reply: .json(content))
    let error = try #require(await failure { try await api.send(Request<[User]>.get("/users")) })
    #expect(error.code == .decoding)
    #expect(error.codingPath == place)
    #expect(!error.detail.isEmpty)
    #expect("\(error)".contains(place ?? error.detail))
    #expect(error.content?.data == Data(content.utf8))
  }

  @Test("Malformed array elements are not skipped silently")
  func droppedItems() async throws {
    stub.onAny(reply: .json(#"[{"id":1,"name":"a"},{"id":2}]"#))
    let error = await failure { try await api.send(Request<[User]>.get("/users")) }
    #expect(error?.codingPath == "[1].name")
    let lossy = try await api.send(Request<LossyArray<User>>.get("/users"))
    #expect(lossy.elements.count == 1)
    #expect(lossy.skipped.count == 1)
  }

  @Test(
    "Rejections have distinct messages: 400 is not generic, and only 401 asks the user to sign in",
    arguments: [
      (400, "The server could not do this."), (401, "You need to sign in to do this."),
      (403, "You are not allowed to do this."), (404, "What you are looking for is not there."),
      (429, "Too many requests. Wait a moment and try again."), (500, "The server has a problem. Try again later."),
      (503, "The server has a problem. Try again later."),
    ])
  func wrongSentences(status: Int, sentence: String) async throws {
    stub.onAny(reply: .status(status))
    let error = await failure { try await api.send(.ping) }
    #expect(error?.errorDescription == sentence)
    #expect(error?.status == status)
  }

  @Test("The status is checked for any content, and a rejection keeps content that is not an object")
  func statusNeverLookedAt() async throws {
    for content in [#"{"id":1,"name":"a"}"#, "[1]", "\"text\"", "7", "plain"] {
      stub.onAny(reply: .json(content, status: 500))
      let error = await failure { try await api.send(Request<User>.get("/a")) }
      #expect(error?.code == .rejected)
      #expect(error?.content?.data == Data(content.utf8))
    }
  }

  @Test("299 is accepted like 200, and 499 is a client error like 400")
  func outsideTheRanges() async throws {
    stub.onAny(reply: .status(299))
    try await api.send(.ping)
    for status in [300, 399, 400, 499, 500, 599] {
      stub.onAny(reply: .status(status))
      let error = await failure { try await api.send(.ping) }
      #expect(error?.status == status)
    }
  }

  @Test("A call with a 401 response ends")
  func unfinishedUnauthorized() async throws {
    stub.onAny(reply: .status(401, fields: [.wwwAuthenticate: "Basic realm=\"x\""]))
    let client = Client(baseURL: "https://example.test", transport: stub) {
      $0.authentication = .bearer(MemoryCredentialsStore(token: "old"))
    }
    for _ in 0..<3 { #expect(await failure { try await client.send(.ping) }?.status == 401) }
    #expect(client.calls.isEmpty)
  }
}
