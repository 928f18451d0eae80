import ApusCore
import ApusTesting
import ApusTransfers
import Crypto
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@Suite("Compressed and digested content")
struct RequestContentCodingTests {
  private let stub = StubTransport()

  /// Sends content and returns the exchange.
  private func sent(_ content: RequestContent) async throws(CallError) -> StubExchange? {
    stub.onAny(reply: .status(200))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    try await api.send(.post("/x", content: content))
    return stub.exchanges.last
  }

  private func field(_ name: String, of exchange: StubExchange) -> String? {
    HTTPField.Name(name).flatMap { exchange.request.head.headerFields[$0] }
  }

  /// Runs the work with a temporary file, which is removed afterwards.
  private func withFile(_ data: Data, _ work: (String) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/apus-\(UUID().uuidString)"
    try data.write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await work(path)
  }

  private static let pattern = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: ($0 / 100) &* 31) })

  @Test("Small content is compressed before it is sent, with its length and its coding", arguments: [1, 6, 9])
  func small(level: Int) async throws {
    let text = Data(String(repeating: "apus ", count: 1000).utf8)
    let exchange = try #require(try await sent(.bytes(text, "text/plain").gzipped(level: level)))
    #expect(field("Content-Encoding", of: exchange) == "gzip")
    #expect(field("Content-Type", of: exchange) == "text/plain")
    #expect(exchange.content.count < 200)
    #expect(try gunzipped(exchange.content) == text)
  }

  @Test("Large content, files, streams and forms are compressed while they are sent")
  func streamed() async throws {
    try await withFile(Self.pattern) { path in
      let stream = ContentStream(length: 10, isReplayable: false) {
        let pieces = Once([Data("hello".utf8), Data("world".utf8)])
        return { pieces.take() }
      }
      let contents: [(RequestContent, Data)] = [
        (.bytes(Self.pattern), Self.pattern), (.file(path), Self.pattern), (.stream(stream), Data("helloworld".utf8)),
      ]
      for (content, plain) in contents {
        let exchange = try #require(try await sent(content.gzipped()))
        #expect(field("Content-Encoding", of: exchange) == "gzip")
        #expect(try gunzipped(exchange.content) == plain)
      }
      let form = RequestContent.multipart([.file("a", at: path), .value("b", 1)])
      let exchange = try #require(try await sent(form.gzipped()))
      let plain = try gunzipped(exchange.content)
      #expect(plain.range(of: Self.pattern) != nil)
      #expect(field("Content-Type", of: exchange)?.hasPrefix("multipart/form-data") == true)
    }
  }

  @Test("Compressed content is replayable if and only if the original content is replayable")
  func replayable() async throws {
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    for isReplayable in [true, false] {
      let stream = ContentStream(isReplayable: isReplayable) { { nil } }
      let message = try await api.message(for: .post("/x", content: .stream(stream).gzipped()))
      #expect(message.content.isReplayable == isReplayable && message.content.length == nil)
    }
  }

  @Test("A file that is missing or was changed fails the call")
  func missing() async throws {
    let error = await failure { try await sent(.file("/no/such/file").gzipped()) }
    #expect(error?.code == .encoding)
  }

  @Test("Modifiers of absent content have no effect")
  func empty() async throws {
    let exchange = try #require(try await sent(.empty.gzipped().digested()))
    #expect(field("Content-Encoding", of: exchange) == nil && field("Content-Digest", of: exchange) == nil)
    #expect(exchange.content.isEmpty)
  }

  @Test("The digest covers the content as it is sent, whatever the order of the modifiers")
  func digested() async throws {
    let text = RequestContent.text(String(repeating: "apus ", count: 100))
    for content in [text.digested(), text.gzipped().digested(), text.digested().gzipped()] {
      let exchange = try #require(try await sent(content))
      let expected = Data(SHA256.hash(data: exchange.content)).base64EncodedString()
      #expect(field("Content-Digest", of: exchange) == "sha-256=:\(expected):")
    }
    let exchange = try #require(try await sent(text.digested(.sha512)))
    #expect(field("Content-Digest", of: exchange)?.hasPrefix("sha-512=:") == true)
  }

  @Test("The digest of a file is computed before the call; a call fails if its content cannot be digested in advance")
  func fileDigest() async throws {
    try await withFile(Self.pattern) { path in
      let digest = try await FileDigest(ofFileAt: path)
      #expect(Data(digest.bytes) == Data(SHA256.hash(data: Self.pattern)))
      let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
      let message = try await api.message(for: .put("/x", content: .file(path)).contentDigest(digest))
      let value = HTTPField.Name("Content-Digest").flatMap { message.head.headerFields[$0] }
      #expect(value == "sha-256=:\(Data(digest.bytes).base64EncodedString()):")
      let error = await failure { try await sent(.file(path).digested()) }
      #expect(error?.code == .encoding && error?.detail.contains("contentDigest") == true)
    }
    await #expect(throws: TransferError.self) { try await FileDigest(ofFileAt: "/no/such/file") }
  }
}

/// A queue of values. `take` removes and returns the first value.
private final class Once: Sendable {
  private let rest: Mutex<[Data]>

  init(_ values: [Data]) {
    rest = Mutex(values)
  }

  func take() -> Data? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
