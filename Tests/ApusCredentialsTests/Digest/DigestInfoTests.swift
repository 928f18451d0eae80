import Apus
import ApusCredentials
import ApusTesting
import Synchronization
import TestSupport
import Testing

@Suite("Proofs of servers in Authentication-Info")
struct DigestInfoTests {
  private typealias Behavior = DigestServer.Behavior

  private let post = Request<String>.post("/things", content: .text("thing"))
  private let get = Request<String>.get("/things")

  private func refusal(
    _ behavior: DigestServer.Behavior, requiresProof: Bool = false, _ request: Request<String>
  ) async -> DigestRefusal? {
    let server = DigestServer(behavior)
    let api = server.client(DigestServer.digest(requiresProof: requiresProof))
    let error = await failure { try await api.send(request) }
    #expect(error == nil || error?.code == .refused || error?.status == behavior.status)
    if error?.code == .refused { #expect(error?.requestState == .responded && error?.content == nil) }
    return error?.underlying as? DigestRefusal
  }

  @Test("A correct proof is accepted: with auth, with auth-int, in a session, and if it is required")
  func right() async throws {
    for algorithm in ["SHA-256", "SHA-256-sess"] {
      for (quality, request) in [("auth", get), ("auth, auth-int", post), ("auth-int", get), ("auth", post)] {
        let server = DigestServer(Behavior(quality: quality, algorithm: algorithm))
        #expect(try await server.client(DigestServer.digest(requiresProof: true)).send(request) == "hello")
      }
    }
  }

  @Test("A wrong proof fails the call, and the response is not delivered")
  func wrong() async {
    var behavior = Behavior()
    behavior.info = { info in info.merging(["rspauth": "0123"]) { $1 } }
    #expect(await refusal(behavior, get) == .wrongProof)
    #expect(await refusal(behavior, post) == .wrongProof)
    behavior.status = 404
    #expect(await refusal(behavior, get) == .wrongProof)
  }

  @Test("Changed content is detected with auth-int, but not with auth")
  func changedContent() async {
    var behavior = Behavior()
    behavior.proven = "bye"
    #expect(await refusal(behavior, post) == .wrongProof)
    #expect(await refusal(behavior, get) == nil)
  }

  @Test("A proof for another message is wrong", arguments: ["nc", "cnonce", "qop"])
  func otherMessage(parameter: String) async {
    var behavior = Behavior()
    behavior.info = { info in info.merging([parameter: "00000009"]) { $1 } }
    #expect(await refusal(behavior, get) == .wrongProof)
  }

  @Test("Parameters missing from the proof default to those of the message, and upper-case digits are accepted")
  func lenient() async {
    var behavior = Behavior()
    behavior.info = { ["rspauth": $0["rspauth"]?.uppercased() ?? ""] }
    #expect(await refusal(behavior, requiresProof: true, get) == nil)
    #expect(await refusal(behavior, requiresProof: true, post) == nil)
  }

  @Test("A missing proof is accepted, unless the app requires it")
  func missing() async {
    var behavior = Behavior()
    for info in [{ _ in nil }, { _ in ["qop": "auth"] }, { _ in [:] }]
      as [@Sendable ([String: String]) -> [String: String]?]
    {
      behavior.info = info
      #expect(await refusal(behavior, get) == nil)
      #expect(await refusal(behavior, requiresProof: true, get) == .missingProof)
    }
    behavior.status = 404
    #expect(await refusal(behavior, requiresProof: true, get) == .missingProof)
    behavior.status = 503
    #expect(await refusal(behavior, requiresProof: true, get) == nil)
  }

  @Test("A streamed response is verified with auth; with auth-int it fails if the proof is required")
  func streamed() async throws {
    for requiresProof in [false, true] {
      let server = DigestServer()
      let api = server.client(DigestServer.digest(requiresProof: requiresProof))
      try await api.withResponse(to: get) { _ in }
      let error = await failure { try await api.withResponse(to: post) { _ in } }
      #expect(error?.underlying as? DigestRefusal == (requiresProof ? .missingProof : nil))
      server.behavior.withLock { $0.info = { info in info.merging(["rspauth": "0123"]) { $1 } } }
      let wrong = await failure { try await api.withResponse(to: get) { _ in } }
      #expect(wrong?.underlying as? DigestRefusal == .wrongProof)
    }
  }

  @Test(
    "The nonce in a response is used for the next message, so that no further message is rejected",
    arguments: ["SHA-256", "SHA-256-sess"])
  func nextNonce(algorithm: String) async throws {
    let server = DigestServer(Behavior(algorithm: algorithm))
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
    server.behavior.withLock { $0.info = { info in info.merging(["rspauth": "0123", "nextnonce": "evil"]) { $1 } } }
    #expect(await failure { try await api.send(get) } != nil)
    server.behavior.withLock { $0.info = { $0 } }
    _ = try await api.send(get)
    #expect(server.shown.map { $0["nonce"] } == [nil, "nonce-1", "nonce-1", "nonce-1"])
  }

  @Test("A malformed field is treated as a missing proof", arguments: ["", ",,,", "rspauth", "=", "\"", "rspauth=\"a"])
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
