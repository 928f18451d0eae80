import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("Schemes that examine responses")
struct ResponseReviewTests {
  private let stub = StubTransport()
  private let told = Log<SessionEnd>()
  private let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "t1", refresh: "r1")))

  private func client(_ authentication: Authentication) -> Client {
    var client = TestClient()
    client.environment.authentication = authentication
    client.onSessionEnd = told.add
    return client.over(stub)
  }

  private func answers(_ replies: StubReply...) {
    stub.on(.get, "/v1/ping", replies: replies)
    stub.on(.post, "/v1/ping", replies: replies)
  }

  /// A reply that gives a nonce.
  private func gives(_ nonce: String, status: Int = 204) -> StubReply {
    .status(status, fields: [.nonce: nonce])
  }

  /// A rejection that asks for a proof with a nonce.
  private func asks(for nonce: String) -> StubReply {
    .status(401, fields: [.nonce: nonce, .wwwAuthenticate: #"Proof error="use_nonce""#])
  }

  private var proofs: [String?] { stub.exchanges.map { $0.fields[text: "Proof"] } }

  @Test("The scheme sees each response, so that the next message answers its nonce")
  func everyResponse() async throws {
    answers(gives("n1"), gives("n2", status: 404), gives("n3"))
    let api = client(.scheme(ProofScheme(), tokens))
    try await api.send(.ping)
    #expect(await failure { try await api.send(.ping) }?.status == 404)
    try await api.send(.ping)
    #expect(proofs == ["t1 none", "t1 n1", "t1 n2"])
  }

  @Test("A message is resent once with the nonce that the server asks for, without a refresh or an event")
  func resent() async throws {
    answers(asks(for: "n1"), gives("n1"))
    let refreshes = Counter()
    try await client(refreshing(refreshes)).send(.ping)
    #expect(proofs == ["t1 none", "t1 n1"])
    #expect(refreshes.value == 0 && told.all.isEmpty)
  }

  @Test("A second request for another nonce is the call's response, without a refresh or an event")
  func resentOnce() async throws {
    answers(asks(for: "n1"), asks(for: "n2"))
    let refreshes = Counter()
    let error = await failure { try await client(refreshing(refreshes)).send(.ping) }
    #expect(error?.status == 401 && error?.sessionEnd == nil)
    #expect(proofs == ["t1 none", "t1 n1"])
    #expect(refreshes.value == 0 && told.all.isEmpty)
  }

  @Test("A token that is rejected after the resend is refreshed, and sent with the current nonce")
  func resentAndRefreshed() async throws {
    answers(asks(for: "n1"), gives("n2", status: 401), gives("n3"))
    let refreshes = Counter()
    try await client(refreshing(refreshes)).send(.ping)
    #expect(proofs == ["t1 none", "t1 n1", "t2 n2"])
    #expect(refreshes.value == 1 && told.all.isEmpty)
  }

  @Test("Content that can be sent once only is not resent; the next call knows the nonce")
  func oneShot() async throws {
    answers(asks(for: "n1"), gives("n1"))
    let api = client(.scheme(ProofScheme(), tokens))
    let stream = ContentStream(isReplayable: false) { { nil } }
    let once = Request<Void>.post("/ping", content: .stream(stream))
    let error = try #require(await failure { try await api.send(once) })
    #expect(error.code == .invalidRequest && error.requestState == .responded)
    try await api.send(once)
    #expect(proofs == ["t1 none", "t1 n1"])
  }

  @Test("A response that the scheme rejects is not delivered, and is no end of the session")
  func rejected() async throws {
    answers(.text("forged"))
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
    #expect(told.all.isEmpty)
  }

  @Test("An error of the scheme's own type is the cause of a refusal, and only its type is quoted")
  func ownError() async throws {
    answers(.text("forged"))
    let api = client(.scheme(RejectingScheme(error: Forged()), tokens))
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused && error.requestState == .responded && error.underlying is Forged)
    #expect(error.detail == "the response was rejected: Forged")
    #expect(!texts(of: error).contains(sentinel))
  }

  @Test("A response to a message without the credentials is not examined")
  func notShown() async throws {
    answers(.status(204))
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

/// A scheme that proves its token with the latest nonce of the server, and suspends while it does.
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

/// The reason of a scheme's own.
private struct Forged: Error {
  let secret = sentinel

  static let error = TransportError(
    .refused, requestState: .notSent, detail: "the proof is wrong", underlying: Forged())
}
