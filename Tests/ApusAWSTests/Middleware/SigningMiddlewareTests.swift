import ApusCore
import ApusMiddleware
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

@Suite("Signing middleware")
struct SigningMiddlewareTests {
  private let stub = StubTransport()

  private func client(
    _ credentials: any AWSCredentialsProvider = AWSCredentials.example, service: String = "service",
    origins: Set<Origin> = []
  ) -> Client {
    var pipeline = Pipeline()
    pipeline.insert(RetryMiddleware(.server), .after(.retry))
    pipeline.insert(RedirectMiddleware(), .after(.redirects))
    pipeline.insert(AuthenticationMiddleware(), .after(.authentication))
    pipeline.insert(
      SigningMiddleware(
        SignatureV4(region: "us-east-1", service: service), credentials: credentials, origins: origins,
        now: { .example }),
      .after(.authentication))
    var settings = ClientSettings()
    settings.runtime = Runtime(clock: ManualClock(.manual), random: { 0 })
    return Client(
      environment: Environment(baseURL: "https://example.amazonaws.com"), pipeline: pipeline, transport: stub,
      settings: settings)
  }

  private func authorization(_ index: Int) -> String? {
    stub.exchanges.indices.contains(index) ? stub.exchanges[index].fields[.authorization] : nil
  }

  private func date(_ index: Int) -> String? {
    HTTPField.Name("X-Amz-Date").flatMap { stub.exchanges[index].fields[$0] }
  }

  @Test("The middleware adds the same signature as the signer")
  func signs() async throws {
    stub.onAny(reply: .status(204))
    try await client().send(Request<Void>.get("/x"))
    let expected = try SignatureV4(region: "us-east-1", service: "service").sign(
      stub.exchanges[0].request, with: .example, at: .example)
    #expect(authorization(0)?.hasSuffix(expected.signature) == true)
    #expect(date(0) == "20150830T123600Z")
  }

  @Test("Every attempt is signed with the time of the attempt and the current credentials")
  func attempts() async throws {
    stub.replyInOrder(.status(503), .status(204))
    let provider = Rotating(["AKIDONE", "AKIDTWO"])
    try await client(provider).send(Request<Void>.get("/x"))
    #expect(authorization(0)?.contains("AKIDONE") == true)
    #expect(authorization(1)?.contains("AKIDTWO") == true)
  }

  @Test("A redirect to another origin gets no signature; a redirect within the origin gets a new signature")
  func redirects() async throws {
    stub.on(url: "https://example.amazonaws.com/a", .status(302, fields: [.location: "/b"]))
    stub.on(url: "https://example.amazonaws.com/b", .status(302, fields: [.location: "https://evil.example/c"]))
    stub.on(url: "https://evil.example/c", .status(204))
    var credentials = AWSCredentials.example
    credentials.sessionToken = "session-token"
    try await client(credentials).send(Request<Void>.get("/a"))
    #expect(stub.exchanges.count == 3)
    #expect(authorization(0) != nil && authorization(1) != nil && authorization(0) != authorization(1))
    #expect(stub.exchanges[2].fields.allSatisfy { !$0.name.canonicalName.hasPrefix("x-amz") })
    #expect(authorization(2) == nil)
  }

  @Test("Requests to origins that the app allows or the endpoint trusts are signed; other requests are not")
  func origins() async throws {
    stub.onAny(reply: .status(204))
    let first = Origin(scheme: "https", host: "first.example", port: 443)
    let second = Origin(scheme: "https", host: "second.example", port: 443)
    let client = client(origins: [first])
    try await client.send(Request<Void>.get(.url("https://first.example/")))
    try await client.send(Request<Void>.get(.url("https://second.example/")))
    try await client.send(Request<Void>.get(.url("https://second.example/")).trusting(second))
    try await client.send(Request<Void>.get(.url("http://first.example/")))
    #expect(stub.exchanges.indices.map { authorization($0) != nil } == [true, false, true, false])
  }

  @Test("Calls without credentials, presigned URLs and requests with another authorization are sent unchanged")
  func exempt() async throws {
    stub.onAny(reply: .status(204))
    try await client().send(Request<Void>.get("/").credentials(.none))
    try await client().send(Request<Void>.get("/", query: ["X-Amz-Signature": "a"]))
    try await client().send(Request<Void>.get("/").field("Authorization", "Bearer token"))
    #expect(stub.exchanges.indices.map { authorization($0) } == [nil, nil, "Bearer token"])
  }

  @Test("The endpoint determines the signed payload and the region")
  func settings() async throws {
    stub.onAny(reply: .status(204))
    let client = client(service: "s3")
    let name = try #require(HTTPField.Name("X-Amz-Content-SHA256"))
    let stream = ContentStream(isReplayable: false) { { nil } }
    try await client.send(Request<Void>.put("/k", content: .text("x")).signing(.unsigned).signing(region: "eu-west-1"))
    try await client.send(Request<Void>.put("/k", content: .stream(stream)))
    try await client.send(Request<Void>.put("/k", content: .text("x")))
    #expect(stub.exchanges.map { $0.fields[name]?.prefix(8) } == ["UNSIGNED", "UNSIGNED", "2d711642"])
    #expect(authorization(0)?.contains("/eu-west-1/s3/") == true)
    #expect(authorization(2)?.contains("/us-east-1/s3/") == true)
  }

  @Test("A stream of known length is sent to S3 in signed chunks over http")
  func chunks() async throws {
    stub.onAny(reply: .status(204))
    let origin = Origin(scheme: "http", host: "s3.example", port: 80)
    let stream = ContentStream(length: 3, isReplayable: true) {
      let piece = Mutex<Data?>(Data("abc".utf8))
      return { piece.withLock { $0.take() } }
    }
    try await client(service: "s3", origins: [origin]).send(
      Request<Void>.put(.url("http://s3.example/k"), content: .stream(stream)))
    let sent = try #require(stub.exchanges.first)
    let name = try #require(HTTPField.Name("X-Amz-Content-SHA256"))
    #expect(sent.fields[name] == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
    #expect(sent.text.hasPrefix("3;chunk-signature=") && sent.text.contains("\r\nabc\r\n0;chunk-signature="))
  }

  @Test("A request that cannot be signed fails before it is sent")
  func unsignable() async throws {
    let stream = ContentStream(isReplayable: true) { { nil } }
    let error = try #require(
      await failure { try await client().send(Request<Void>.put("/k", content: .stream(stream))) })
    #expect(error.code == .invalidRequest && error.requestState == .notSent)
    #expect(error.underlying as? SigningError == .contentNotInMemory)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("A provider's error is the cause of the failed call, and no request is sent")
  func noCredentials() async throws {
    let error = try #require(await failure { try await client(Rotating([])).send(Request<Void>.get("/")) })
    #expect(error.code == .refused && error.requestState == .notSent)
    #expect(error.underlying is Rotating.Empty)
  }

  @Test("After a rejection because of the clock, the request is signed again, and later requests use the right time")
  func skew() async throws {
    let body = "<Error><Code>RequestTimeTooSkewed</Code></Error>"
    stub.replyInOrder(.status(403, fields: [.date: "Sun, 30 Aug 2015 14:36:00 GMT"], content: body), .status(204))
    let client = client()
    try await client.send(Request<Void>.get("/"))
    try await client.send(Request<Void>.get("/"))
    #expect(stub.exchanges.indices.map { date($0) } == ["20150830T123600Z", "20150830T143600Z", "20150830T143600Z"])
  }

  @Test("A request that is also rejected with the corrected clock is not sent a third time")
  func skewOnce() async throws {
    let date = "Sun, 30 Aug 2015 14:36:00 GMT"
    stub.onAny(reply: .json(#"{"__type":"InvalidSignatureException"}"#, status: 403, fields: [.date: date]))
    let error = try #require(await failure { try await client().send(Request<Void>.get("/")) })
    #expect(error.status == 403 && stub.exchanges.count == 2)
  }

  @Test("A rejection for another reason is the result of the call")
  func denied() async throws {
    let date = "Sun, 30 Aug 2015 14:36:00 GMT"
    stub.onAny(reply: .status(403, fields: [.date: date], content: "<Error><Code>AccessDenied</Code></Error>"))
    let error = try #require(await failure { try await client().send(Request<Void>.get("/")) })
    #expect(error.status == 403 && stub.exchanges.count == 1)
  }

  @Test("A request with expired credentials is signed once more if the provider has new credentials")
  func expired() async throws {
    stub.replyInOrder(.status(400, content: "<Error><Code>ExpiredToken</Code></Error>"), .status(204))
    let provider = Rotating(["AKIDONE", "AKIDTWO"])
    try await client(provider).send(Request<Void>.get("/"))
    #expect(provider.invalidated == ["AKIDONE"])
    #expect(authorization(1)?.contains("AKIDTWO") == true)
  }

  @Test("A request with expired credentials is not resent if the credentials do not change")
  func expiredForGood() async throws {
    stub.replyInOrder(.status(400, content: "<Error><Code>ExpiredToken</Code></Error>"))
    let error = try #require(await failure { try await client().send(Request<Void>.get("/")) })
    #expect(error.status == 400 && stub.exchanges.count == 1)
  }

  @Test("A streamed rejection is read, and content that can be read only once is not resent")
  func streamed() async throws {
    let body = "<Error><Code>RequestTimeTooSkewed</Code></Error>"
    stub.replyInOrder(
      .pieces([body], status: 403, fields: [.date: "Sun, 30 Aug 2015 14:36:00 GMT"]), .text("ok"))
    let text = try await client().withResponse(to: Request<Content>.get("/")) { (response: inout StreamedResponse) in
      var all = Data()
      while let piece = try await response.next() { all += piece }
      return String(decoding: all, as: UTF8.self)
    }
    #expect(text == "ok" && stub.exchanges.count == 2)
  }

  @Test("The client's description contains the service, but no credentials")
  func description() {
    let middleware = SigningMiddleware(SignatureV4(region: "r", service: "s"), credentials: AWSCredentials.example)
    #expect(middleware.facts == [.setting("signs for", "s in r")])
    #expect(!texts(of: middleware).contains(AWSCredentials.example.secretAccessKey))
  }
}

extension StubTransport {
  /// Replies with one reply after the other, and then repeats the last reply.
  fileprivate func replyInOrder(_ replies: StubReply...) {
    let left = Mutex(replies)
    on { _, _ in
      true
    } reply: { _ in
      left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
  }

  fileprivate func on(url: String, _ reply: StubReply) {
    on { request, _ in
      request.url == url
    } reply: { _ in
      reply
    }
  }
}

/// A provider that returns credentials in order, and fails after the last credentials.
private final class Rotating: AWSCredentialsProvider {
  struct Empty: Error {}

  private let state: Mutex<(left: [String], invalidated: [String])>

  init(_ ids: [String]) {
    state = Mutex((ids, []))
  }

  var invalidated: [String] { state.withLock { $0.invalidated } }

  func credentials() async throws -> AWSCredentials {
    try state.withLock { state in
      guard !state.left.isEmpty else { throw Empty() }
      return AWSCredentials(accessKeyID: state.left.removeFirst(), secretAccessKey: "secret")
    }
  }

  func invalidate(_ credentials: AWSCredentials) {
    state.withLock { $0.invalidated.append(credentials.accessKeyID) }
  }
}
