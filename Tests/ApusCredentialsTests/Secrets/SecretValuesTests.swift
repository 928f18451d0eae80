import Apus
import ApusCredentials
import ApusTesting
import Foundation
import HTTPTypes
import Testing

@Suite("Values with credentials are printed masked")
struct SecretValuesTests {
  private let tokens = Credential.tokens(
    Tokens(access: Secret(Planted.access.secret), refresh: Secret(Planted.refresh.secret), lifetime: .seconds(60)))
  private let account = Credential.password(user: Planted.user.secret, Secret(Planted.password.secret))

  private func expectSilence(_ value: Any, _ name: String, at location: SourceLocation = #_sourceLocation) {
    let leaks = Planted.leaks(in: texts(of: value))
    #expect(leaks.isEmpty, "\(name) shows \(leaks)", sourceLocation: location)
  }

  @Test(
    "Credentials, stores, authentications and environments contain no secret when printed",
    arguments: Authenticator.allCases)
  func values(authenticator: Authenticator) {
    let authentication = authenticator.authentication()
    var environment = Environment(baseURL: "https://api.example.com")
    environment.authentications = [authentication]
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = authentication
    let name = authenticator.rawValue
    expectSilence(authentication, "\(name): the authentication")
    expectSilence([authentication, nil] as [Authentication?], "\(name): a list of authentications")
    expectSilence(environment, "\(name): the environment")
    expectSilence(environment.values, "\(name): the environment's values")
    expectSilence(configuration, "\(name): the configuration")
    expectSilence(Client(configuration: configuration, transport: StubTransport()), "\(name): the client")
  }

  @Test("Stored credentials, alone and inside other values, contain no secret when printed")
  func kept() {
    struct Holder {
      let credential: Credential, maybe: StoredCredential?, list: [Credential], table: [String: Credential]
    }
    for credential in [tokens, account, .token(Secret(Planted.key.secret))] {
      let source = MemoryCredentialsStore(credential)
      let stored = StoredCredential(credential, generation: 1, principal: 1)
      let holder = Holder(credential: credential, maybe: stored, list: [credential], table: ["a": credential])
      for value in [credential, source, source.current(), stored, holder] as [Any] {
        expectSilence(value, "\(type(of: value))")
      }
    }
  }

  @Test("The input of a refresh contains no secret when printed")
  func refresh() async {
    let (shown, stub) = (Log<String>(), StubTransport())
    stub.onAny(reply: .status(401))
    let api = Client(baseURL: "https://api.example.com", transport: stub) {
      $0.authentication = .bearer(MemoryCredentialsStore(tokens)) { refresh in
        shown.add(texts(of: refresh) + texts(of: refresh.credential) + texts(of: refresh.token))
        throw RefreshRejection()
      }
    }
    let error = await #expect(throws: CallError.self) { try await api.send(Request<Void>.get("/a")) }
    #expect(shown.all.count == 1)
    for text in shown.all { #expect(Planted.leaks(in: text).isEmpty) }
    for text in error?.printedTexts(withContent: true) ?? [] {
      #expect(Planted.leaks(in: text.text).isEmpty, "\(text.name)")
    }
  }

  @Test("An error about unusable credentials does not contain the credentials")
  func unusable() async throws {
    func token(_ end: String) -> MemoryCredentialsStore { MemoryCredentialsStore(token: Planted.key.secret + end) }
    func account(_ end: String) -> MemoryCredentialsStore {
      MemoryCredentialsStore(.password(user: Planted.user.secret, Secret(Planted.password.secret + end)))
    }
    let colon = MemoryCredentialsStore(.password(user: Planted.user.secret + ":", Secret(Planted.password.secret)))
    let cases: [(String, Authentication)] = [
      ("bearer", .bearer(token("\n"))), ("a bearer beyond ASCII", .bearer(token("é"))),
      ("basic", .basic(account("\n"))),
      ("a name with a colon", .basic(colon)), ("digest", .digest(account("\n"))),
      ("a key in a field", .apiKey(token("\u{0}"), field: "X-Who")),
      ("a key in the query", .apiKey(token(" "), queryParameter: "who")),
      ("a scheme of one's own", .scheme(ThreefoldScheme(), account("\r\n"))),
      ("a token as a password", .basic(token(""))), ("a password as a token", .bearer(account(""))),
      ("a token as a digest", .digest(token(""))),
    ]
    for (name, authentication) in cases {
      let stub = StubTransport()
      stub.onAny(reply: .status(401, fields: [.wwwAuthenticate: Authenticator.digest.challenge]))
      let api = Client(baseURL: "https://api.example.com", transport: stub) { $0.authentication = authentication }
      let failed = await #expect(throws: CallError.self, "\(name)") { try await api.send(Request<Void>.get("/a")) }
      let error = try #require(failed)
      #expect(error.code == .invalidRequest, "\(name): \(error)")
      for text in error.printedTexts(withContent: true) {
        #expect(Planted.leaks(in: text.text).isEmpty, "\(name): \(text.name)")
      }
    }
  }

  @Test("A credentials file, its content in memory, and its errors contain no secret when printed")
  func file() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-secrets-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "credentials")
    let source = FileCredentialsStore(at: path.path, key: .file(folder.appending(path: "key").path))
    for credential in [tokens, account] {
      try await source.set(credential)
      let stored = try await source.current()
      #expect(stored.credential != nil)
      expectSilence(source, "the source")
      expectSilence(stored, "what it keeps")
      expectSilence(Authentication.bearer(source), "its authentication")
      let bytes = try Data(contentsOf: path)
      #expect(Planted.leaks(in: String(decoding: bytes, as: UTF8.self)).isEmpty)
    }
    // The key that opens the file is a secret, too.
    let key = CredentialsFileKey.passphrase(Secret(Planted.key.secret))
    expectSilence(key, "a passphrase")
    let locked = FileCredentialsStore(at: path.path, key: key)
    expectSilence(locked, "a source with a passphrase")
    let api = Client(baseURL: "https://api.example.com", transport: StubTransport()) {
      $0.authentication = .basic(locked)
    }
    let failed = await #expect(throws: CallError.self) { try await api.send(Request<Void>.get("/a")) }
    let error = try #require(failed)
    #expect(error.underlying is CredentialsStoreError)
    for text in error.printedTexts(withContent: true) { #expect(Planted.leaks(in: text.text).isEmpty, "\(text.name)") }
  }
}
