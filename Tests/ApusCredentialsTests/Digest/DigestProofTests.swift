import Apus
import ApusCredentials
import ApusTesting
import Synchronization
import TestSupport
import Testing

@Suite("Proofs of servers in Authentication-Info")
struct DigestProofTests {
  private typealias Manner = DigestServer.Manner

  private let post = Request<String>.post("/things", content: .text("thing"))
  private let get = Request<String>.get("/things")

  private func refusal(
    _ manner: DigestServer.Manner, requiresProof: Bool = false, _ request: Request<String>
  ) async -> DigestRefusal? {
    let server = DigestServer(manner)
    let api = server.client(DigestServer.digest(requiresProof: requiresProof))
    let error = await failure { try await api.send(request) }
    #expect(error == nil || error?.code == .refused || error?.status == manner.status)
    if error?.code == .refused { #expect(error?.requestState == .responded && error?.content == nil) }
    return error?.underlying as? DigestRefusal
  }

  @Test("A right proof is accepted, with auth and auth-int, for a session, and when it is required")
  func right() async throws {
    for algorithm in ["SHA-256", "SHA-256-sess"] {
      for (quality, request) in [("auth", get), ("auth, auth-int", post), ("auth-int", get), ("auth", post)] {
        let server = DigestServer(Manner(quality: quality, algorithm: algorithm))
        #expect(try await server.client(DigestServer.digest(requiresProof: true)).send(request) == "hello")
      }
    }
  }

  @Test("A wrong proof fails the call, and the response is not delivered")
  func wrong() async {
    var manner = Manner()
    manner.info = { info in info.merging(["rspauth": "0123"]) { $1 } }
    #expect(await refusal(manner, get) == .wrongProof)
    #expect(await refusal(manner, post) == .wrongProof)
    manner.status = 404
    #expect(await refusal(manner, get) == .wrongProof)
  }

  @Test("Changed content is noticed with auth-int, and cannot be noticed with auth")
  func changedContent() async {
    var manner = Manner()
    manner.proven = "bye"
    #expect(await refusal(manner, post) == .wrongProof)
    #expect(await refusal(manner, get) == nil)
  }

  @Test("A proof for another message is wrong", arguments: ["nc", "cnonce", "qop"])
  func otherMessage(parameter: String) async {
    var manner = Manner()
    manner.info = { info in info.merging([parameter: "00000009"]) { $1 } }
    #expect(await refusal(manner, get) == .wrongProof)
  }

  @Test("Parameters that are not sent back are those of the message, and hexadecimal digits may be in upper case")
  func lenient() async {
    var manner = Manner()
    manner.info = { ["rspauth": $0["rspauth"]?.uppercased() ?? ""] }
    #expect(await refusal(manner, requiresProof: true, get) == nil)
    #expect(await refusal(manner, requiresProof: true, post) == nil)
  }

  @Test("A missing proof is accepted, unless the app requires it")
  func missing() async {
    var manner = Manner()
    for info in [{ _ in nil }, { _ in ["qop": "auth"] }, { _ in [:] }]
      as [@Sendable ([String: String]) -> [String: String]?]
    {
      manner.info = info
      #expect(await refusal(manner, get) == nil)
      #expect(await refusal(manner, requiresProof: true, get) == .missingProof)
    }
    manner.status = 404
    #expect(await refusal(manner, requiresProof: true, get) == .missingProof)
    manner.status = 503
    #expect(await refusal(manner, requiresProof: true, get) == nil)
  }

  @Test("A streamed response is checked with auth, and with auth-int only if the proof is required: it then fails")
  func streamed() async throws {
    for requiresProof in [false, true] {
      let server = DigestServer()
      let api = server.client(DigestServer.digest(requiresProof: requiresProof))
      try await api.withResponse(to: get) { _ in }
      let error = await failure { try await api.withResponse(to: post) { _ in } }
      #expect(error?.underlying as? DigestRefusal == (requiresProof ? .missingProof : nil))
      server.manner.withLock { $0.info = { info in info.merging(["rspauth": "0123"]) { $1 } } }
      let wrong = await failure { try await api.withResponse(to: get) { _ in } }
      #expect(wrong?.underlying as? DigestRefusal == .wrongProof)
    }
  }

  @Test(
    "The nonce that a response gives is used for the next message, so that no message is rejected again",
    arguments: ["SHA-256", "SHA-256-sess"])
  func nextNonce(algorithm: String) async throws {
    let server = DigestServer(Manner(algorithm: algorithm))
    let api = server.client()
    _ = try await api.send(get)
    server.rotate()
    for _ in 0..<3 { _ = try await api.send(get) }
    #expect(server.shown.map { $0["nonce"] } == [nil, "nonce-1", "nonce-1", "nonce-2", "nonce-3"])
    #expect(server.shown.map { $0["nc"] } == [nil, "00000001", "00000002", "00000001", "00000001"])
  }

  @Test("A next nonce in a response with a wrong proof is not used")
  func nonceOfLiar() async throws {
    let server = DigestServer()
    let api = server.client()
    _ = try await api.send(get)
    server.manner.withLock { $0.info = { info in info.merging(["rspauth": "0123", "nextnonce": "evil"]) { $1 } } }
    #expect(await failure { try await api.send(get) } != nil)
    server.manner.withLock { $0.info = { $0 } }
    _ = try await api.send(get)
    #expect(server.shown.map { $0["nonce"] } == [nil, "nonce-1", "nonce-1", "nonce-1"])
  }

  @Test("Malformed text in the field is a missing proof", arguments: ["", ",,,", "rspauth", "=", "\"", "rspauth=\"a"])
  func malformed(text: String) async throws {
    let stub = StubTransport()
    let asks = #"Digest realm="things", nonce=n, qop=auth, algorithm=SHA-256"#
    stub.on(
      .get, "/things",
      replies: [
        .status(401, fields: [.wwwAuthenticate: asks]), .status(200, fields: [.authenticationInfo: text]),
      ])
    var environment = Environment(baseURL: "https://api.example.com")
    environment.authentication = DigestServer.digest(requiresProof: true)
    var pipeline = Pipeline()
    pipeline.insert(AuthenticationMiddleware(), .after(.authentication))
    let api = Client(environment: environment, pipeline: pipeline, transport: stub)
    #expect(await failure { try await api.send(get) }?.underlying as? DigestRefusal == .missingProof)
  }
}
