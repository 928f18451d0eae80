import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Content of intermediate responses")
struct IntermediateContentTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport()
  private let gate = Gate()

  private func client(timeout: Duration? = nil, _ authentication: Authentication? = nil) -> Client {
    var client = TestClient("https://a.example")
    client.settings.runtime.clock = clock
    client.timeout = timeout
    client.environment.authentication = authentication
    client.customize = {
      $0.insert(AttemptTimeoutMiddleware(), .after(.attemptTimeout))
      $0.insert(RedirectMiddleware(), .after(.redirects))
    }
    return client.over(stub)
  }

  /// Returns a reply whose announced content never arrives.
  private func stalled(_ status: Int, _ fields: HTTPFields) -> StubReply {
    var fields = fields
    fields[.contentLength] = "12"
    return .pieces(["abc", "def"], gate: gate, status: status, fields: fields)
  }

  private func stalled(_ status: Int) -> StubReply {
    stalled(status, status == 302 ? [.location: "/2"] : [.wwwAuthenticate: "Bearer"])
  }

  private func bearer() -> Authentication {
    let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "old", refresh: "r")), clock: clock)
    return .bearer(tokens) { _ in Tokens(access: "new", refresh: "r") }
  }

  @Test("A redirect with endless content delays the call by a second")
  func redirect() async throws {
    stub.on(.get, "/1", reply: stalled(302))
    stub.on(.get, "/2", reply: .text("there"))
    let api = client()
    let call = Task { try await api.send(Request<String>.get("/1")) }
    try await gate.waitForArrivals(1)
    clock.advance(by: .seconds(1))
    #expect(try await call.value == "there")
    #expect(stub.exchanges.map(\.outcome) == [.cancelled, .replied])
  }

  @Test("Slow content of a 401 is discarded after one second, too")
  func refusal() async throws {
    stub.on(.get, "/1", replies: [stalled(401), .text("there")])
    let api = client(bearer())
    let call = Task { try await api.send(Request<String>.get("/1")) }
    try await gate.waitForArrivals(1)
    clock.advance(by: .seconds(1))
    #expect(try await call.value == "there")
    #expect(stub.exchanges.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
    #expect(stub.exchanges.map(\.outcome) == [.cancelled, .replied])
  }

  @Test(
    "Slow intermediate content does not delay a call beyond its attempt timeout, and the error has the state responded",
    arguments: [302, 401])
  func attemptLimit(status: Int) async throws {
    stub.on(.get, "/1", reply: stalled(status))
    let request = Request<String>.get("/1").attemptTimeout(.milliseconds(500))
    let api = client(bearer())
    async let outcome = failure { try await api.send(request) }
    try await gate.waitForArrivals(1)
    clock.advance(by: .milliseconds(500))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.phase == .receiving && error.requestState == .responded)
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("The call's deadline ends the reading of intermediate content", arguments: [302, 401])
  func deadline(status: Int) async throws {
    stub.on(.get, "/1", reply: stalled(status))
    let api = client(timeout: .milliseconds(300), bearer())
    async let outcome = failure { try await api.send(Request<String>.get("/1")) }
    try await gate.waitForArrivals(1)
    clock.advance(by: .milliseconds(300))
    let error = try #require(await outcome)
    #expect(error.cancellation == .deadline(.receiving))
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("The content of an endless rejection is discarded after 64 KiB")
  func bounded() async throws {
    let piece = Data(repeating: 0x78, count: 16 << 10)
    let answer = StubReply.pieces(
      Array(repeating: piece, count: 100), status: 401, fields: [.wwwAuthenticate: "Bearer"])
    stub.on(.get, "/1", replies: [answer, .text("there")])
    #expect(try await client(bearer()).send(Request<String>.get("/1")) == "there")
    #expect(stub.exchanges.map(\.outcome) == [.cancelled, .replied])
  }

  @Test("A rejection that is the call's response has its complete content, of any length", arguments: [true, false])
  func kept(isAnnounced: Bool) async throws {
    let fields: HTTPFields = [.wwwAuthenticate: "Bearer", .contentType: "application/json"]
    let piece = #"{"message":"no such session"}"#
    let answer =
      isAnnounced ? StubReply.json(piece, status: 401, fields: fields) : .pieces([piece], status: 401, fields: fields)
    stub.on(.get, "/1", reply: answer)
    let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "old", refresh: "r")), clock: clock)
    for authentication in [.bearer(tokens), bearer()] as [Authentication] {
      let error = await failure { try await client(authentication).send(Request<String>.get("/1")) }
      #expect(error?.status == 401 && error?.content?.data == Data(piece.utf8))
    }
    let response = try await client(.bearer(tokens)).response(to: Request<String>.get("/1").accepting(.any))
    #expect(response.value == piece)
  }
}
