import Apus
import ApusTestServer
import Foundation
import Logging
import Synchronization
import Testing

private let secret = "s3nt1nel"

@Suite("Redirect faults that must not occur, with every transport")
struct RedirectFaultsTests {
  /// The origin of a server, set when the server has started.
  private final class Address: Sendable {
    private let origin = Mutex("")

    var value: String {
      get { origin.withLock { $0 } }
      set { origin.withLock { $0 = newValue } }
    }
  }

  /// Runs two servers. The first redirects every request to the second, which sends the given reply.
  private func withTwo(
    _ kind: TransportKind, _ status: Int = 302,
    second: @escaping @Sendable (RecordedRequest) -> Reply = { _ in .text("there") },
    _ body: (_ first: ReachableServer, _ second: ReachableServer) async throws -> Void
  ) async throws {
    try await kind.withServer(second) { other in
      let target = other.origin
      try await kind.withServer { request in
        request.path == "/end"
          ? .text("back") : .text("on", status: status, fields: ["Location": target + request.target])
      } body: { first in
        try await body(first, other)
      }
    }
  }

  /// Returns the whole text of a received request.
  private func seen(_ exchange: RecordedExchange) -> String {
    let fields = exchange.fields.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    return "\(exchange.method) \(exchange.target)\n\(fields)\n\(exchange.text)"
  }

  private func texts(of trace: Trace) -> [String] {
    var dumped = ""
    dump(trace, to: &dumped)
    return ["\(trace)", dumped]
  }

  // MARK: Secrets

  /// A kind of credentials that a call sends.
  enum Showing: String, CaseIterable {
    case bearer, basic, keyField, keyParameter, ownAuthorization, ownProxyAuthorization, cookie, markedField
    case unmarkedField, commonField, markedCommonField, markedParameter

    func configure(_ configuration: inout Configuration) {
      let token = MemoryCredentialsStore(token: secret)
      switch self {
      case .bearer: configuration.authentication = .bearer(token)
      case .basic:
        configuration.authentication = .basic(MemoryCredentialsStore(.password(user: "u", Secret(secret))))
      case .keyField: configuration.authentication = .apiKey(token, field: "X-Who")
      case .keyParameter: configuration.authentication = .apiKey(token, queryParameter: "who")
      case .commonField: configuration.setField("X-Tenant-Token", secret)
      case .markedCommonField: configuration.setField("X-Who", secret, isSensitive: true)
      default: break
      }
    }

    func request() -> Request<String> {
      let request = Request<String>.get("/a", query: ["page": 2])
      switch self {
      case .ownAuthorization: return request.field("Authorization", "Bearer \(secret)")
      case .ownProxyAuthorization: return request.field("Proxy-Authorization", "Basic \(secret)")
      case .cookie: return request.field("Cookie", "sid=\(secret)")
      case .markedField: return request.field("X-Who", secret, isSensitive: true)
      case .unmarkedField: return request.field("X-Api-Key", secret)
      case .markedParameter: return request.query(["who": secret]).sensitiveParameters("who")
      default: return request
      }
    }

    /// The credentials as sent.
    var written: String {
      self == .basic ? Data("u:\(secret)".utf8).base64EncodedString() : secret
    }
  }

  @Test(
    "A redirect to another origin is sent without secrets of any kind", arguments: TransportKind.allCases,
    Showing.allCases)
  func secrets(kind: TransportKind, showing: Showing) async throws {
    try await withTwo(kind) { first, second in
      let log = LogRecorder()
      let api = kind.client(of: first) {
        showing.configure(&$0)
        $0.logging = RequestLogging(log.logger(), showsPaths: true)
      }
      let response = try await api.response(to: showing.request())
      #expect(response.value == "there")
      #expect(seen(try #require(first.exchanges.first)).contains(showing.written))
      let stolen = try #require(second.exchanges.first)
      #expect(!seen(stolen).contains(showing.written), "\(seen(stolen))")
      #expect(stolen.target == "/a?page=2")
      for text in texts(of: response.trace) + log.lines.all.map(\.text) {
        #expect(!text.contains(showing.written), "\(text)")
      }
    }
  }

  @Test(
    "Secrets removed by a redirect to another origin stay removed when a later hop returns to the first origin",
    arguments: TransportKind.allCases)
  func restored(kind: TransportKind) async throws {
    let back = Address()
    let returning: @Sendable (RecordedRequest) -> Reply = { _ in
      .status(307, fields: ["Location": back.value + "/end"])
    }
    try await withTwo(kind, second: returning) { first, second in
      back.value = first.origin
      let api = kind.client(of: first) { $0.authentication = .bearer(MemoryCredentialsStore(token: "t")) }
      let own = Request<String>.post("/a").field("Authorization", "Bearer own").field("X-Own", "o", isSensitive: true)
      let text = try await api.send(own.field("X-Trace", "1"))
      #expect(text == "back")
      #expect(first.exchanges.map { $0.fields["Authorization"] } == ["Bearer own", nil])
      #expect(first.exchanges.map { $0.fields["X-Own"] } == ["o", nil])
      #expect((first.exchanges + second.exchanges).allSatisfy { $0.fields["X-Trace"] == "1" })
      // The client applies its own credentials for each hop separately.
      let again = try await api.send(Request<String>.post("/a"))
      #expect(again == "back")
      #expect(first.exchanges.dropFirst(2).map { $0.fields["Authorization"] } == ["Bearer t", "Bearer t"])
      #expect(second.exchanges.allSatisfy { $0.fields["Authorization"] == nil && $0.fields["X-Own"] == nil })
    }
  }

  @Test("Each hop of a redirect is signed separately", arguments: TransportKind.allCases)
  func signing(kind: TransportKind) async throws {
    struct Sign: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        var request = request
        try request.addField(RawField("X-Signed", "\(request.head.method.rawValue) \(request.url)"))
        return try await next(request, context: context)
      }
    }
    try await withTwo(kind, 303) { first, second in
      let api = kind.client(of: first) { $0.customizePipeline = { $0.insert(Sign(), .before(.transport)) } }
      let text = try await api.send(Request<String>.post("/a"))
      #expect(text == "there")
      #expect(first.exchanges.map { $0.fields["X-Signed"] } == ["POST \(first.origin)/a"])
      #expect(second.exchanges.map { $0.fields["X-Signed"] } == ["GET \(second.origin)/a"])
    }
  }

  // MARK: Methods and content

  @Test(
    "A redirect resends content with 307 and 308, and drops it where RFC 9110 changes the method to GET",
    arguments: TransportKind.allCases,
    [301, 302, 303, 307, 308])
  func content(kind: TransportKind, status: Int) async throws {
    try await withTwo(kind, status) { first, second in
      let api = kind.client(of: first)
      for content in [RequestContent.json(["a": 1]), .stream(ContentStream(length: 7, Pieces()))] {
        let text = try await api.send(Request<String>.post("/a", content: content))
        #expect(text == "there")
      }
      let keeps = status > 303
      #expect(first.exchanges.map(\.text) == [#"{"a":1}"#, "a piece"])
      #expect(second.exchanges.map(\.text) == (keeps ? [#"{"a":1}"#, "a piece"] : ["", ""]))
      #expect(second.exchanges.allSatisfy { $0.method == (keeps ? "POST" : "GET") })
      #expect(second.exchanges.allSatisfy { ($0.fields["Content-Type"] != nil) == keeps })
    }
  }

  private struct Pieces: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
      var rest = ["a ", "piece"].map { Data($0.utf8) }[...]
      mutating func next() async -> Data? { rest.popFirst() }
    }
    func makeAsyncIterator() -> Iterator { Iterator() }
  }

  @Test(
    "Statuses 300, 304, 305 and 306 are not followed as redirects", arguments: TransportKind.allCases,
    [300, 304, 305, 306])
  func notFollowed(kind: TransportKind, status: Int) async throws {
    try await withTwo(kind, status) { first, second in
      let error = await failure { try await kind.client(of: first).send(Request<String>.get("/a")) }
      #expect(error?.code == .rejected && error?.status == status)
      #expect(second.exchanges.isEmpty)
    }
  }

  // MARK: Ends

  @Test(
    "An endless redirect loop, or more redirects than permitted, ends with an error", arguments: TransportKind.allCases)
  func endless(kind: TransportKind) async throws {
    try await kind.withServer { request in
      let number = request.path.dropFirst().split(separator: "/").last.flatMap { Int($0) } ?? 0
      let location = request.path.hasPrefix("/circle") ? "/circle/\((number + 1) % 3)" : "/\(number + 1)"
      return .status(302, fields: ["Location": location])
    } body: { server in
      let api = kind.client(of: server)
      let circle = try #require(await failure { try await api.send(Request<Void>.get("/circle/0")) })
      #expect(circle.code == .malformedResponse && circle.underlying as? RedirectRefusal == .loop)
      #expect(server.exchanges.count == 3)
      let endless = try #require(await failure { try await api.send(Request<Void>.get("/0")) })
      #expect(endless.underlying as? RedirectRefusal == .tooManyRedirects(limit: 10))
      #expect(server.exchanges.count == 3 + 11)
      #expect(api.calls.all.isEmpty && server.inFlight == 0)
    }
  }

  @Test(
    "A redirect to a forbidden target is refused", arguments: TransportKind.allCases,
    [
      "ftp://127.0.0.1/", "https://me:\(secret)@127.0.0.1/", "//127.0.0.1:0/", "/a\\b", "/%zz",
      "https:///x",
    ])
  func places(kind: TransportKind, location: String) async throws {
    try await kind.withServer { _ in
      .text("on", status: 302, fields: ["Location": location])
    } body: { server in
      let error = try #require(
        await failure { try await kind.client(of: server).send(Request<String>.get("/a").accepting(.any)) })
      #expect(error.code == .malformedResponse, "\(error)")
      #expect(!"\(error) \(error.detail) \(error.message) \(error.trace)".contains(secret))
      #expect(server.exchanges.count == 1)
    }
  }

  @Test("A redirect with several Location fields is not followed", arguments: TransportKind.allCases)
  func several(kind: TransportKind) async throws {
    try await kind.withServer { _ in
      .status(302, fields: ["Location": "/b", "Location": "/c"])
    } body: { server in
      let error = try #require(await failure { try await kind.client(of: server).send(Request<Void>.get("/a")) })
      #expect(error.underlying as? RedirectRefusal == .malformedLocation("it has several Locations"))
      #expect(server.exchanges.count == 1)
    }
  }

  // MARK: Connections

  /// Returns redirects whose content must not be awaited, stored or decoded.
  private static func unwanted(_ request: RecordedRequest) -> Reply {
    let fields: FieldLines = ["Location": "/end"]
    switch request.path {
    case "/more": return .generated(300_000, status: 302, fields: fields)
    case "/endless": return .generated(1 << 40, status: 302, fields: fields)
    case "/stalled":
      var fields = fields
      fields["Content-Length"] = "100000"
      return Reply.text("never more", status: 302, fields: fields).stalling(at: .content(4))
    case "/garbage":
      // Content falsely marked as gzip fails if it is decoded.
      var fields = fields
      fields["Content-Encoding"] = "gzip"
      return .text("no gzip at all", status: 302, fields: fields)
    default: return .text("there")
    }
  }

  /// URLSession is tested with one path only, because URLSession may read any amount of content before it reports a
  /// redirect.
  @Test(
    "The content of a followed redirect is not stored, awaited or decoded",
    arguments: [
      (TransportKind.urlSession, "/more"), (.nio, "/more"), (.nio, "/endless"), (.nio, "/stalled"),
      (.nio, "/garbage"), (.nioHTTP2, "/more"), (.nioHTTP2, "/endless"), (.nioHTTP2, "/stalled"),
      (.nioHTTP2, "/garbage"),
    ])
  func discarded(kind: TransportKind, path: String) async throws {
    try await kind.withServer {
      Self.unwanted($0)
    } body: { server in
      let api = kind.client(of: server) { $0.contentLimit = 1000 }
      let request = Request<String>.get(RequestPath(stringLiteral: path))
      let text = try await api.send(request)
      let count = try await api.withResponse(to: request) { try await $0.collect().count }
      #expect(text == "there" && count == 5)
      // The exchanges of discarded responses are closed, so no exchange is in flight.
      try await server.server.wait { $0.inFlight == 0 }
      #expect(api.calls.all.isEmpty)
    }
  }

  @Test("A connection is reused after a redirect with little content")
  func reused() async throws {
    try await TransportKind.nio.withServer { request in
      request.path == "/end" ? .text("there") : .text("on", status: 302, fields: ["Location": "/end"])
    } body: { server in
      let api = TransportKind.nio.client(of: server)
      for _ in 0..<5 { _ = try await api.send(Request<String>.get("/a")) }
      #expect(server.exchanges.count == 10 && Set(server.exchanges.map(\.connection)).count == 1)
    }
  }

  @Test("No hop is sent after the call was cancelled", arguments: TransportKind.allCases)
  func cancelled(kind: TransportKind) async throws {
    let stalling: @Sendable (RecordedRequest) -> Reply = { _ in .stalled }
    try await withTwo(kind, second: stalling) { first, second in
      let api = kind.client(of: first)
      let call = Task { await failure { try await api.send(Request<String>.get("/a")) } }
      let exchange = try await second.server.exchange()
      call.cancel()
      let error = try #require(await call.value)
      #expect(error.code == .cancelled && error.requestState == .maybeSent)
      try await second.server.waitForClientClose(of: exchange)
      #expect(api.calls.all.isEmpty)
    }
  }
}
