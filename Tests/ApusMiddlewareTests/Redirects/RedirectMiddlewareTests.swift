import ApusCore
import ApusMiddleware
import ApusTesting
import Foundation
import HTTPTypes
import Testing

extension StubReply {
  static func redirect(_ status: Int = 302, to location: String, fields: HTTPFields = [:]) -> StubReply {
    var fields = fields
    fields[.location] = location
    return .status(status, fields: fields)
  }
}

extension StubTransport {
  /// Stubs the reply to requests of a URL with any query.
  func on(url: String, _ reply: StubReply) {
    on { request, _ in
      request.url.prefix { $0 != "?" } == url
    } reply: { _ in
      reply
    }
  }

  var urls: [String] { exchanges.map(\.request.url) }
}

extension TestClient {
  /// Returns a client that follows redirects.
  static func following(_ policy: RedirectPolicy = .follow, _ baseURL: BaseURL = "https://a.example") -> TestClient {
    var client = TestClient(baseURL)
    client.customize = { $0.insert(RedirectMiddleware(policy), .after(.redirects)) }
    return client
  }
}

@Suite("Following redirects")
struct RedirectMiddlewareTests {
  private let stub = StubTransport()

  private func events(of trace: Trace) -> [String] {
    trace.events.map(\.kind).compactMap { kind -> String? in
      switch kind {
      case .redirected, .exchangeStarted, .headArrived, .note, .credentialsAdded: "\(kind)"
      default: nil
      }
    }
  }

  @Test("A redirected call gets the response of the last hop, and its trace has each hop")
  func following() async throws {
    stub.on(url: "https://a.example/1", .redirect(301, to: "/2?token=\(sentinel)"))
    stub.on(url: "https://a.example/2", .redirect(307, to: "https://b.example:8443/3?token=\(sentinel)"))
    stub.on(url: "https://b.example:8443/3", .text("there"))
    let api = TestClient.following().over(stub)
    let response = try await api.response(to: Request<String>.get("/1").field("X-Api-Key", sentinel))
    #expect(response.value == "there" && response.head.status == 200)
    #expect(stub.exchanges.map(\.attempt) == [1, 1, 1] && stub.openExchanges.isEmpty)
    #expect(
      events(of: response.trace) == [
        "exchange started", "response with status 301",
        "redirected with status 301 from https://a.example to https://a.example",
        "exchange started", "response with status 307",
        "redirected with status 307 from https://a.example to https://b.example:8443",
        "fields not sent to the other origin: 1", "exchange started", "response with status 200",
      ])
    #expect(response.trace.exchanges.count == 3)
    #expect(!texts(of: response.trace).contains(sentinel))
  }

  @Test(
    "A redirect resends content if the method is unchanged, but not if it becomes GET",
    arguments: [301, 302, 303, 307, 308])
  func content(status: Int) async throws {
    stub.on(url: "https://a.example/1", .redirect(status, to: "/2"))
    stub.on(url: "https://a.example/2", .status(204))
    let api = TestClient.following().over(stub)
    let pieces = ContentStream(isReplayable: true) {
      let rest = Log<Int>()
      return {
        rest.add(0)
        return rest.all.count < 3 ? Data("ab".utf8) : nil
      }
    }
    for content in [RequestContent.json(["a": 1]), .stream(pieces)] {
      try await api.send(Request<Void>.post("/1", content: content))
    }
    let (first, second) = (stub.exchanges.filter { $0.target == "/1" }, stub.exchanges.filter { $0.target == "/2" })
    #expect(first.map(\.text) == [#"{"a":1}"#, "abab"])
    #expect(second.map(\.text) == (status > 303 ? [#"{"a":1}"#, "abab"] : ["", ""]))
    #expect(second.allSatisfy { $0.method == (status > 303 ? HTTPRequest.Method.post : .get) })
    #expect(second.map { $0.fields[.contentType] != nil }.first == (status > 303))
  }

  @Test("A call may set its own redirect policy, or disable redirects")
  func perCall() async throws {
    stub.on(url: "https://a.example/1", .redirect(to: "/2"))
    stub.on(url: "https://a.example/2", .redirect(to: "/3"))
    stub.on(url: "https://a.example/3", .status(204))
    let request = Request<Content>.get("/1").accepting(.any)
    let follows = TestClient.following().over(stub)
    #expect(try await status(follows, request.redirects(.none)) == 302)
    #expect(try await status(follows, request) == 204)
    let error = await failure { try await status(follows, request.redirects(.follow(limit: 1))) }
    #expect(error?.code == .malformedResponse)
    let stays = TestClient.following(.none).over(stub)
    #expect(try await status(stays, request) == 302)
    #expect(try await status(stays, request.redirects(.follow)) == 204)
    let refused = await failure { try await stays.send(Request<Void>.get("/1")) }
    #expect(refused?.code == .rejected && refused?.status == 302)
  }

  private func status(_ api: Client, _ request: Request<Content>) async throws -> Int {
    try await api.response(to: request).head.status.code
  }

  @Test("Creating a message sends no request")
  func described() async throws {
    let message = try await TestClient.following().over(stub).message(for: Request<Void>.get("/1"))
    #expect(message.url == "https://a.example/1" && stub.exchanges.isEmpty)
  }

  // MARK: Credentials

  @Test("In redirects from A to B and back to A, B never receives the token, and A receives it again")
  func thereAndBack() async throws {
    let tokens = MemoryCredentialsStore()
    tokens.set(.token("old"), account: "ada")
    stub.on(url: "https://a.example/1", .redirect(to: "https://b.example/2"))
    stub.on { request, _ in
      request.head.authority == "b.example"
    } reply: { _ in
      tokens.set(.token("new"), account: "ada")
      return .redirect(to: "https://a.example/3")
    }
    stub.on(url: "https://a.example/3", .status(204))
    var client = TestClient.following()
    client.environment.authentication = .bearer(tokens)
    try await client.over(stub).send(Request<Void>.get("/1"))
    #expect(stub.urls == ["https://a.example/1", "https://b.example/2", "https://a.example/3"])
    #expect(stub.exchanges.map { $0.fields[.authorization] } == ["Bearer old", nil, "Bearer new"])
  }

  @Test("A call's own credentials are not restored on the way back, nor replaced by the environment's")
  func ownCredentials() async throws {
    stub.on(url: "https://a.example/1", .redirect(to: "https://b.example/2"))
    stub.on(url: "https://b.example/2", .redirect(to: "https://a.example/3"))
    stub.on(url: "https://a.example/3", .status(204))
    var client = TestClient.following()
    client.environment.authentication = .bearer(
      MemoryCredentialsStore(token: "t"),
      origins: [
        Origin(scheme: "https", host: "a.example", port: 443), Origin(scheme: "https", host: "b.example", port: 443),
      ])
    let api = client.over(stub)
    try await api.send(
      Request<Void>.get("/1").field("Authorization", "Bearer own").field("X-Own", "o", isSensitive: true))
    #expect(stub.exchanges.map { $0.fields[.authorization] } == ["Bearer own", nil, nil])
    #expect(stub.exchanges.map { $0.fields[text: "X-Own"] } == ["o", nil, nil])
    try await api.send(Request<Void>.get("/1"))
    #expect(stub.exchanges.dropFirst(3).map { $0.fields[.authorization] } == ["Bearer t", "Bearer t", "Bearer t"])
    try await api.send(Request<Void>.get("/1").credentials(.none))
    #expect(stub.exchanges.dropFirst(6).allSatisfy { $0.fields[.authorization] == nil })
  }

  @Test("An inner middleware, such as a signature, processes every hop as it is sent")
  func signing() async throws {
    struct Sign: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        var request = request
        try request.addField(RawField("X-Signed", "\(request.head.method.rawValue) \(request.url)"))
        return try await next(request, context: context)
      }
    }
    stub.on(url: "https://a.example/1", .redirect(303, to: "/2"))
    stub.on(url: "https://a.example/2", .redirect(307, to: "https://b.example/3"))
    stub.on(url: "https://b.example/3", .status(204))
    var client = TestClient.following()
    let customize = client.customize
    client.customize = {
      customize(&$0)
      $0.insert(Sign(), .before(.transport))
    }
    try await client.over(stub).send(Request<Void>.post("/1"))
    #expect(
      stub.exchanges.map { $0.fields[text: "X-Signed"] } == [
        "POST https://a.example/1", "GET https://a.example/2", "GET https://b.example/3",
      ])
  }

  @Test("Secret parameters do not reach another origin if the server repeats the query")
  func parameters() async throws {
    stub.on { request, _ in
      request.head.authority == "a.example"
    } reply: {
      .redirect(to: "https://b.example" + $0.target)
    }
    stub.on { request, _ in
      request.head.authority == "b.example"
    } reply: { _ in
      .status(204)
    }
    var client = TestClient.following()
    client.environment.authentication = .apiKey(MemoryCredentialsStore(token: sentinel), queryParameter: "api_key")
    client.environment.sensitiveParameters = ["tenant"]
    client.environment.query = ["tenant": sentinel]
    let request = Request<Void>.get("/1", query: ["page": 2, "signature": sentinel]).sensitiveParameters("signature")
    try await client.over(stub).send(request)
    #expect(stub.exchanges[0].target.split(separator: sentinel).count == 3)
    #expect(stub.exchanges[1].target == "/1?page=2")
  }

  @Test("An API key in the query is added for each hop, and an echo by the server does not replace it")
  func keysInQuery() async throws {
    stub.on(url: "https://a.example/own", .redirect(301, to: "/own/"))
    stub.on(url: "https://a.example/own/", .status(204))
    stub.on(url: "https://a.example/echo", .redirect(301, to: "/echo/?key=t&page=2"))
    stub.on(url: "https://a.example/echo/", .status(401))
    let told = Log<Bool>()
    var client = TestClient.following()
    client.onSessionEnd = { _ in told.add(true) }
    client.environment.authentication = .apiKey(MemoryCredentialsStore(token: "t"), queryParameter: "key")
    let api = client.over(stub)
    try await api.send(Request<Void>.get("/own", query: ["key": "OWN"]))
    #expect(stub.exchanges.map(\.target) == ["/own?key=OWN", "/own/"])
    _ = try? await api.send(Request<Void>.get("/echo"))
    #expect(stub.exchanges.dropFirst(2).map(\.target) == ["/echo?key=t", "/echo/?page=2&key=t"])
    // The server rejected the client's key, so the client reports the rejection.
    #expect(told.all == [true])
  }

  // MARK: Refused redirects

  @Test(
    "A refused redirect is an error with a reason and a message, without its target",
    arguments: [
      ("/1", RedirectRefusal.loop), ("http://a.example/\(sentinel)", .insecure),
      ("app://\(sentinel)", .unsupportedScheme),
      (
        "https://\(sentinel)@b.example/",
        .malformedLocation("its Location cannot be used: it contains user information; use credentials")
      ),
      ("/%\(sentinel)", .malformedLocation("its Location contains a % that starts no escape")),
    ])
  func refused(location: String, refusal: RedirectRefusal) async throws {
    stub.onAny(reply: .redirect(to: location))
    let lines = LogRecorder()
    var client = TestClient.following()
    client.settings.observers = [RequestLogging(lines.logger(), showsPaths: true)]
    let error = try #require(await failure { try await client.over(stub).send(Request<Void>.get("/1")) })
    #expect(error.code == .malformedResponse && error.status == 302 && error.requestState == .responded)
    #expect(error.underlying as? RedirectRefusal == refusal && error.detail == "\(refusal)")
    #expect(error.message == "The server referred to another place that could not be used.")
    #expect(stub.exchanges.count == 1 && stub.openExchanges.isEmpty)
    for text in [texts(of: error), error.detail, error.message, "\(error.trace)"] + lines.lines.all.map(\.text) {
      #expect(!text.contains(sentinel.lowercased()) && !text.contains(sentinel), "\(text)")
    }
  }

  @Test("A redirect that must resend one-time content fails the call with invalidRequest")
  func once() async throws {
    stub.onAny(reply: .redirect(308, to: "/2"))
    let content = RequestContent.stream(ContentStream(isReplayable: false) { { nil } })
    let api = TestClient.following().over(stub)
    let error = await failure { try await api.send(Request<Void>.post("/1", content: content)) }
    #expect(error?.code == .invalidRequest && error?.requestState == .responded)
    #expect(error?.underlying as? RedirectRefusal == .contentNotReplayable)
  }

  @Test("A hop that was not sent after an earlier hop fails with the state maybeSent")
  func laterFailure() async throws {
    stub.on(url: "https://a.example/1", .redirect(303, to: "https://b.example/2"))
    stub.on(url: "https://b.example/2", .failure(TransportError(.connectionFailed, requestState: .notSent)))
    let api = TestClient.following().over(stub)
    let error = await failure { try await api.send(Request<Void>.post("/1")) }
    #expect(error?.code == .connectionFailed && error?.requestState == .maybeSent)
    stub.onAny(reply: .failure(TransportError(.connectionFailed, requestState: .notSent)))
    #expect(await failure { try await api.send(Request<Void>.post("/1")) }?.requestState == .notSent)
  }

  @Test("The call's deadline includes all hops of a redirect, and the error has the phase")
  func deadline() async throws {
    let clock = ManualClock(.manual)
    stub.on(url: "https://a.example/1", .redirect(to: "/2").after(.seconds(3)))
    stub.on(url: "https://a.example/2", .status(204).after(.seconds(3)))
    var client = TestClient.following()
    client.settings.runtime.clock = clock
    let api = client.over(stub)
    async let outcome = failure { try await api.send(Request<Void>.get("/1").timeout(.seconds(5))) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    try await stub.waitForExchanges(2)
    clock.advance(by: .seconds(2))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.requestState == .maybeSent)
    try await stub.waitUntilIdle()
  }

  @Test("A call that is cancelled between two hops sends nothing more")
  func cancelledBetween() async throws {
    struct CancelAfterRedirect: CallObserver {
      func observe(_ event: TraceEvent, of call: CallEntry) {
        if case .headArrived(status: 302) = event.kind { call.cancel() }
      }
    }
    stub.onAny(reply: .redirect(to: "/2"))
    var client = TestClient.following()
    client.settings.observers = [CancelAfterRedirect()]
    let error = try #require(await failure { try await client.over(stub).send(Request<Void>.get("/1")) })
    #expect(error.code == .cancelled && error.requestState == .responded)
    #expect(stub.urls == ["https://a.example/1"])
    #expect(stub.openExchanges.isEmpty)
  }

  // MARK: Content of the redirect

  @Test("Long content of a redirect is discarded, short content is read")
  func discarding() async throws {
    let large = StubReply.pieces(
      Array(repeating: String(repeating: "x", count: 1000), count: 100), gate: Gate(), status: 302,
      fields: [.location: "/2"])
    stub.on(url: "https://a.example/large", large)
    let small = StubReply.text("look elsewhere", status: 302, fields: [.location: "/2"])
    stub.on(url: "https://a.example/small", small)
    stub.on(url: "https://a.example/2", .pieces(["a", "b"]))
    let api = TestClient.following().over(stub)
    for path in ["/large", "/small"] as [RequestPath] {
      #expect(try await api.send(Request<String>.get(path).contentLimit(2)) == "ab")
      let streamed = try await api.withResponse(to: Request<String>.get(path)) { try await $0.collect().count }
      #expect(streamed == 2)
    }
    #expect(
      stub.exchanges.map(\.outcome) == [
        .cancelled, .replied, .cancelled, .replied, .replied, .replied, .replied, .replied,
      ])
  }

  @Test("The content of a redirect that is not followed is read like the content of any response")
  func answering() async throws {
    stub.onAny(reply: .text("look elsewhere", status: 302))
    let api = TestClient.following().over(stub)
    #expect(try await api.send(Request<String>.get("/1").accepting(.any)) == "look elsewhere")
    stub.onAny(reply: .text("look elsewhere", status: 302, fields: [.location: "/2"]))
    #expect(try await api.send(Request<String>.get("/1").accepting(.any).redirects(.none)) == "look elsewhere")
    stub.onAny(reply: .text("not changed", status: 304, fields: [.location: "/2"]))
    #expect(await failure { try await api.send(Request<Void>.get("/1")) }?.status == 304)
  }
}
