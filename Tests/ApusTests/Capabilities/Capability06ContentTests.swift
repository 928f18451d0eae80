import Apus
import ApusTestServer
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("6: content")
struct Capability06ContentTests {
  private func sent(_ content: RequestContent, query: Query = [:]) async throws -> RecordedExchange {
    try await withServer { api, server in
      try await api.send(.post("/a", query: query, content: content))
      return server.exchanges[0]
    }
  }

  @Test("A value is sent as JSON with its media type")
  func json() async throws {
    let exchange = try await sent(.json(User(id: 7, name: "Ann/Bob é")))
    #expect(exchange.fields["Content-Type"] == "application/json")
    #expect(try JSONDecoder().decode(User.self, from: Data(exchange.content)) == User(id: 7, name: "Ann/Bob é"))
    #expect(exchange.fields["Content-Length"] == "\(exchange.content.count)")
  }

  @Test("A value is sent as a form that a server's decoder reads back")
  func form() async throws {
    let exchange = try await sent(
      .form(["name": "Ann & Bob", "a+b": "x y=%é", "list": ["1", "2"], "no": nil as Int?]))
    #expect(exchange.fields["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(
      formItems(exchange.text) == [["name", "Ann & Bob"], ["a+b", "x y=%é"], ["list", "1"], ["list", "2"]])
    #expect(try formItems(await sent(.form(User(id: 7, name: "A"))).text) == [["id", "7"], ["name", "A"]])
  }

  @Test("Bytes and text are sent unchanged")
  func bytes() async throws {
    let all = Data(0...255)
    let bytes = try await sent(.bytes(all, "image/x-all"))
    #expect(Data(bytes.content) == all)
    #expect(bytes.fields["Content-Type"] == "image/x-all")
    let text = try await sent(.text("naïve"))
    #expect(text.text == "naïve")
    #expect(text.fields["Content-Type"]?.hasPrefix("text/plain") == true)
  }

  @Test("A form with a file is sent as parts, and its boundary is in Content-Type")
  func multipart() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/apus-\(UUID().uuidString).png"
    try Data("PNG".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let exchange = try await sent(.multipart([.value("user", 7), .file("avatar", at: path, fileName: "ada.png")]))
    let type = MediaType(try #require(exchange.fields["Content-Type"]))
    let boundary = try #require(type.parameter("boundary"))
    #expect(type.essence == "multipart/form-data")
    let head = "Content-Disposition: form-data; name="
    #expect(
      exchange.text
        == [
          "--\(boundary)", "\(head)\"user\"", "", "7",
          "--\(boundary)", "\(head)\"avatar\"; filename=\"ada.png\"", "Content-Type: image/png", "", "PNG",
          "--\(boundary)--", "",
        ].joined(separator: "\r\n"))
    #expect(exchange.fields["Content-Length"] == "\(exchange.content.count)")
  }

  @Test("A file is sent with its length")
  func file() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)")
    let pattern = ContentPattern.counting
    try Data(pattern.bytes(0..<300_000)).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let exchange = try await sent(.file(url.path, "video/mp4"))
    #expect(exchange.fields["Content-Type"] == "video/mp4")
    #expect(exchange.contentLength == 300_000)
    #expect(exchange.digest == pattern.digest(of: 300_000))
    #expect(exchange.fields["Content-Length"] == "300000")
  }

  /// Returns content with a new stream for each pass, as for a file or a camera.
  private static func stream(_ length: Int64?) -> RequestContent {
    .stream(
      ContentStream(
        length: length,
        AsyncStream<Data> { continuation in
          for piece in ["01", "234", "56789"] { continuation.yield(Data(piece.utf8)) }
          continuation.finish()
        }), "text/x-digits")
  }

  @Test("A stream is sent completely, with or without a known length", arguments: [10, nil])
  func stream(length: Int64?) async throws {
    let exchange = try await sent(Self.stream(length))
    #expect(exchange.text == "0123456789")
    #expect(exchange.isComplete)
    #expect(exchange.fields["Content-Type"] == "text/x-digits")
  }

  // Uses the stub, which reads one piece at a time on every platform.
  @Test("A stream is sent piece by piece, with progress for each", arguments: [10, nil])
  func pieces(length: Int64?) async throws {
    let (stub, progress) = (StubTransport(), Progress())
    stub.onAny(reply: .status(204))
    let api = Client(baseURL: "https://example.test", transport: stub) { $0.observers = [progress] }
    try await api.send(.post("/a", content: Self.stream(length)))
    #expect(progress.sent.all == [2, 5, 10])
    #expect(stub.exchanges.first?.announcedLength == length)
  }

  private struct Progress: CallObserver {
    let sent = Log<Int64>()

    func observe(_ event: TraceEvent, of call: CallEntry) {
      if case .sendProgress(let total, _) = event.kind { sent.add(total) }
    }
  }

  private struct Shouting: ContentFormat {
    var mediaType: MediaType { "text/x-loud" }
    func encode(_ value: some Encodable) throws -> Data { Data("\(value)!".uppercased().utf8) }
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
      try JSONDecoder().decode(type, from: Data(data.dropLast()))
    }
  }

  @Test("A custom format works for requests and responses")
  func ownFormat() async throws {
    try await withServer(answering: .text("42!")) { api, server in
      let request: Request<Int> = .post("/a", content: .encoded("hello", as: Shouting()))
      let answer = try await api.send(request.coding { $0.format = Shouting() })
      #expect(answer == 42)
      #expect(server.exchanges[0].text == "HELLO!")
      #expect(server.exchanges[0].fields["Content-Type"] == "text/x-loud")
    }
  }

  @Test("A request can have query and content, or only one of them")
  func together() async throws {
    let both = try await sent(.json([1]), query: ["a": 1])
    #expect(both.target == "/a?a=1")
    #expect(both.text == "[1]")
    let query = try await sent(.empty, query: ["a": 1])
    #expect(query.target == "/a?a=1")
    #expect(query.content.isEmpty)
    let content = try await sent(.json([1]))
    #expect(content.target == "/a")
    #expect(content.text == "[1]")
  }

  private struct Order: Encodable, Sendable {
    struct Item: Encodable, Sendable { var price: Double }
    var items: [Item]
  }

  @Test("Content that cannot be encoded throws an error with its coding path, and nothing is sent")
  func unencodable() async throws {
    try await withServer { api, server in
      let order = Order(items: [.init(price: 1), .init(price: .nan)])
      for content in [RequestContent.json(order), .form(order)] {
        let error = try #require(await failure { try await api.send(.post("/a", content: content)) })
        #expect(error.code == .encoding)
        #expect(error.codingPath?.contains("items") == true && error.codingPath?.contains("price") == true)
        #expect(error.requestState == .notSent)
      }
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("A missing file throws an error, and nothing is sent")
  func missingFile() async throws {
    try await withServer { api, server in
      let error = await failure { try await api.send(.post("/a", content: .file("/nowhere/at/all"))) }
      #expect(error?.code == .encoding)
      #expect(server.exchanges.isEmpty)
    }
  }
}
