import Apus
import ApusCredentials
import ApusTesting
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Digests of content")
struct DigestContentTests {
  private static let both = DigestBench.challenge(#"qop="auth, auth-int", algorithm=SHA-256"#)
  private static let only = DigestBench.challenge(#"qop="auth-int", algorithm=SHA-256"#)
  /// The response to `POST /dir/index.html` with the content `hello`, computed independently of this code.
  private static let hello = "77b18ad066fedcf3d56dfe0818f7360b35254a306d31733176515ef13c83e224"

  private func exchange(_ content: MessageContent) -> DigestExchange {
    var exchange = DigestExchange()
    exchange.request = DigestBench.request("/dir/index.html", .post)
    exchange.request.content = content
    return exchange
  }

  private static func stream(isReplayable: Bool) -> MessageContent {
    .stream(
      ContentStream(isReplayable: isReplayable) {
        let pieces = Pieces(["he", "llo"])
        return { pieces.next() }
      })
  }

  @Test("Repeatable content is hashed if the server offers auth-int, wherever its bytes come from")
  func replayable() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "digest-\(UUID().uuidString)")
    try Data("hello".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let contents: [MessageContent] = [
      .bytes(Data("hello".utf8)), .file(try ContentFile(path: file.path)), Self.stream(isReplayable: true),
      .joined([.bytes(Data("he".utf8)), .empty, .bytes(Data("llo".utf8))]),
    ]
    for content in contents {
      for challenge in [Self.both, Self.only] {
        let parameters = try await exchange(content).parameters(for: challenge)
        #expect(parameters["qop"] == "auth-int" && parameters["response"] == Self.hello)
      }
    }
  }

  @Test("Content that can be read once is not hashed: the message uses auth, or has no response if auth is not offered")
  func oneShot() async throws {
    let parameters = try await exchange(Self.stream(isReplayable: false)).parameters(for: Self.both)
    #expect(parameters["qop"] == "auth")
    #expect(try await exchange(Self.stream(isReplayable: false)).answer(to: Self.only) == nil)
  }

  @Test("A message without content uses auth, or the hash of no bytes if the server offers only auth-int")
  func empty() async throws {
    #expect(try await exchange(.empty).parameters(for: Self.both)["qop"] == "auth")
    let parameters = try await exchange(.empty).parameters(for: Self.only)
    #expect(parameters["qop"] == "auth-int")
    #expect(parameters["response"] == "75213213ee22e5c9fa3fc41d085aeba9da7390324df91dc96681a193c8c4dd6c")
  }

  @Test("A file that has changed or is missing fails the call, and uses no nonce count")
  func changedFile() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "digest-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("hello".utf8).write(to: file)
    let exchange = exchange(.file(try ContentFile(path: file.path)))
    for text in ["hell", "hello!", String(repeating: "hello", count: 200_000)] {
      try Data(text.utf8).write(to: file)
      let error = try #require(await exchange.refusal(of: Self.both))
      #expect(error.detail == "the file to send was changed after the call began" && error.requestState == .notSent)
    }
    try FileManager.default.removeItem(at: file)
    #expect(await exchange.refusal(of: Self.both)?.detail == "the file to send cannot be read")
    try Data("hello".utf8).write(to: file)
    #expect(try await exchange.parameters(for: Self.both)["nc"] == "00000001")
  }

  @Test("A server that verifies the content accepts the message, even if the endpoint encoded the content")
  func accepted() async throws {
    let server = DigestServer()
    let api = server.client()
    for _ in 0..<2 {
      let text = try await api.send(Request<String>.post("/things", content: .json(["a": 1])))
      #expect(text == "hello")
    }
    #expect(try await api.send(Request<String>.get("/things")) == "hello")
    #expect(server.shown.map { $0["qop"] } == [nil, "auth-int", "auth-int", "auth"])
    // With a content coding, the client could not verify the server's proof of the content.
    #expect(server.stub.exchanges.map { $0.fields[.acceptEncoding] } == [nil, "identity", "identity", nil])
  }

  @Test("A stream that can be read once is rejected by a server that requires auth-int, after one exchange")
  func refusedStream() async throws {
    let server = DigestServer(DigestServer.Behavior(quality: "auth-int"))
    let api = server.client()
    let stream = ContentStream(isReplayable: false) { { nil } }
    let error = await failure { try await api.send(Request<String>.post("/things", content: .stream(stream))) }
    #expect(error?.code == .invalidRequest && server.stub.exchanges.count == 1)
  }
}

/// Pieces of text, returned one after the other.
private final class Pieces: Sendable {
  private let rest: Mutex<[String]>

  init(_ pieces: [String]) {
    rest = Mutex(pieces)
  }

  func next() -> Data? {
    rest.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) }
  }
}
