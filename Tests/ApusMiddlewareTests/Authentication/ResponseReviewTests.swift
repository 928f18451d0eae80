import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("Schemes that examine responses")
struct ResponseReviewTests {
  private let stub = StubTransport()
  private let reported = Log<SessionEnd>()
  private let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "t1", refresh: "r1")))

  private func client(_ authentication: Authentication) -> Client {
    var client = TestClient()
    client.environment.authentication = authentication
    client.onSessionEnd = reported.add
    return client.over(stub)
  }

  private func setReplies(_ replies: StubReply...) {
    stub.on(.get, "/v1/ping", replies: replies)
    stub.on(.post, "/v1/ping", replies: replies)
  }

  /// Returns a reply with a nonce.
  private func reply(nonce: String, status: Int = 204) -> StubReply {
    .status(status, fields: [.nonce: nonce])
  }

  /// Returns a rejection that requires a proof with a nonce.
  private func rejection(nonce: String) -> StubReply {
    .status(401, fields: [.nonce: nonce, .wwwAuthenticate: #"Proof error="use_nonce""#])
  }

  private var proofs: [String?] { stub.exchanges.map { $0.fields[text: "Proof"] } }

  @Test("The scheme examines each response, so that the next message contains its nonce")
  func everyResponse() async throws {
    setReplies(reply(nonce: "n1"), reply(nonce: "n2", status: 404), reply(nonce: "n3"))
    let api = client(.scheme(ProofScheme(), tokens))
    try await api.send(.ping)
    #expect(await failure { try await api.send(.ping) }?.status == 404)
    try await api.send(.ping)
    #expect(proofs == ["t1 none", "t1 n1", "t1 n2"])
  }

  @Test("A message is resent once with the nonce that the server requires, without a refresh or an event")
  func resent() async throws {
    setReplies(rejection(nonce: "n1"), reply(nonce: "n1"))
    let refreshes = Counter()
    try await client(refreshing(refreshes)).send(.ping)
    #expect(proofs == ["t1 none", "t1 n1"])
    #expect(refreshes.value == 0 && reported.all.isEmpty)
  }

  @Test("A second rejection with another nonce is the call's response, without a refresh or an event")
  func resentOnce() async throws {
    setReplies(rejection(nonce: "n1"), rejection(nonce: "n2"))
    let refreshes = Counter()
    let error = await failure { try await client(refreshing(refreshes)).send(.ping) }
    #expect(error?.status == 401 && error?.sessionEnd == nil)
    #expect(proofs == ["t1 none", "t1 n1"])
    #expect(refreshes.value == 0 && reported.all.isEmpty)
  }

  @Test("A token that is rejected after the resend is refreshed, and sent with the current nonce")
  func resentAndRefreshed() async throws {
    setReplies(rejection(nonce: "n1"), reply(nonce: "n2", status: 401), reply(nonce: "n3"))
    let refreshes = Counter()
    try await client(refreshing(refreshes)).send(.ping)
    #expect(proofs == ["t1 none", "t1 n1", "t2 n2"])
    #expect(refreshes.value == 1 && reported.all.isEmpty)
  }

  @Test("Content that can be read only once is not resent; the next call sends the nonce")
  func oneShot() async throws {
    setReplies(rejection(nonce: "n1"), reply(nonce: "n1"))
    let api = client(.scheme(ProofScheme(), tokens))
    let stream = ContentStream(isReplayable: false) { { nil } }
    let request = Request<Void>.post("/ping", content: .stream(stream))
    let error = try #require(await failure { try await api.send(request) })
    #expect(error.code == .invalidRequest && error.requestState == .responded)
    try await api.send(request)
    #expect(proofs == ["t1 none", "t1 n1"])
  }

  @Test("A response that the scheme rejects is not delivered, and does not end the session")
  func rejected() async throws {
    setReplies(.text("forged"))
    let api = client(.scheme(RejectingScheme(error: Forged.error), tokens))
    for error in [
      await failure { try await api.send(Request<String>.get("/ping")) },
      await failure { try await api.withResponse(to: Request<String>.get("/ping")) { _ in } },
    ] {
      let error = try #require(error)
      #expect(error.code == .refused && error.requestState == .responded)
      #expect(error.underlying is Forged && error.detail == "the proof is wrong")
      #expect(error.content == nil && error.sessionEnd == nil)
    }
    #expect(reported.all.isEmpty)
  }

  @Test("An error of the scheme's own type is the cause of a refusal, which quotes only the type's name")
  func ownError() async throws {
    setReplies(.text("forged"))
    let api = client(.scheme(RejectingScheme(error: Forged()), tokens))
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused && error.requestState == .responded && error.underlying is Forged)
    #expect(error.detail == "the response was rejected: Forged")
    #expect(!texts(of: error).contains(sentinel))
  }

  @Test("A response to a message without the credentials is not examined")
  func notSent() async throws {
    setReplies(.status(204))
    let api = client(.scheme(RejectingScheme(error: Forged.error), tokens))
    try await api.send(.ping.credentials(.none))
    try await api.send(.ping.field("Proof", "own"))
    tokens.clear()
    try await api.send(.ping)
    #expect(stub.exchanges.count == 3)
  }

  private func refreshing(_ refreshes: Counter) -> Authentication {
    .scheme(ProofScheme(), tokens) { _ in
      refreshes.add()
      return Tokens(access: "t2", refresh: "r2")
    }
  }
}

extension HTTPField.Name {
  fileprivate static let nonce = HTTPField.Name("Proof-Nonce") ?? .cookie
}

/// A scheme that proves its token with the latest nonce of the server, and suspends before it reads the nonce.
private final class ProofScheme: AuthenticationScheme {
  private let nonce = Mutex("none")

  var name: String? { "Proof" }
  var locations: [CredentialLocation] { [.field("Proof")] }

  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) async throws -> Bool {
    guard case .tokens(let tokens) = credential else { return false }
    await Task.yield()
    return try request.addField(RawField("Proof", "\(tokens.access.value) \(nonce.withLock { $0 })"))
  }

  func receive(
    _ response: ResponseMessage, to request: RequestMessage, with credential: Credential, for challenge: Challenge?
  ) -> Bool {
    guard let next = response.head.headerFields[.nonce] else { return false }
    nonce.withLock { $0 = next }
    let challenges = Challenge.all(in: response.head.headerFields)
    return challenges.contains { $0["error"] == "use_nonce" }
  }
}

/// A scheme that rejects every response.
private struct RejectingScheme: AuthenticationScheme {
  let error: any Error

  var name: String? { nil }
  var locations: [CredentialLocation] { [.field("Proof")] }

  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    try request.addField(RawField("Proof", "p"))
  }

  func receive(
    _ response: ResponseMessage, to request: RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    throw error
  }
}

/// An error of the scheme's own type.
private struct Forged: Error {
  let secret = sentinel

  static let error = TransportError(
    .refused, requestState: .notSent, detail: "the proof is wrong", underlying: Forged())
}
