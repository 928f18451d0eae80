import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Sending credentials")
struct CarryingCredentialsTests {
  private let stub = StubTransport.answering()
  private let tokens = MemoryCredentialsStore()

  private func client(_ authentication: Authentication? = nil) -> TestClient {
    var client = TestClient()
    client.environment.authentication = authentication ?? .bearer(tokens)
    return client
  }

  private var authorizations: [String?] { stub.exchanges.map { $0.fields[.authorization] } }

  @Test("The next call carries a token that was set, and no token after the store was cleared")
  func setReadDelete() async throws {
    let api = client().over(stub)
    try await api.send(.ping)
    tokens.set(token: "one")
    try await api.send(.ping)
    tokens.set(token: "two")
    try await api.send(.ping)
    tokens.clear()
    try await api.send(.ping)
    #expect(authorizations == [nil, "Bearer one", "Bearer two", nil])
  }

  @Test("Each attempt of a call reads the token again")
  func perAttempt() async throws {
    tokens.set(.token("old"), account: "ada")
    var client = client()
    client.customize = { [tokens] in
      $0.insert(Twice { tokens.set(.token("new"), account: "ada") }, .after(.retry))
    }
    try await client.over(stub).send(.ping)
    #expect(authorizations == ["Bearer old", "Bearer new"])
  }

  @Test("After the authentication was removed from an environment, calls carry no credentials and are not bound")
  func removed() async throws {
    struct Recorder: Middleware {
      let recorded: Log<UInt64?>
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        recorded.add(context.principal)
        return try await next(request, context: context)
      }
    }
    let (stub, principals) = (StubTransport.answering(), Log<UInt64?>())
    var client = TestClient()
    client.customize = { $0.insert(Recorder(recorded: principals), .after(.coalescing)) }
    client.environment.authentication = .bearer(MemoryCredentialsStore(token: "a"))
    try await client.over(stub).send(.ping)
    client.environment.authentication = nil
    try await client.over(stub).send(.ping)
    #expect(stub.exchanges.map { $0.fields[.authorization] } == ["Bearer a", nil])
    #expect(principals.all == [0, nil])
    #expect(client.environment.authentication.map { _ in true } == nil)
  }

  @Test("The stored credentials have a generation that increases with every change")
  func generations() {
    #expect(tokens.current() == StoredCredential(nil, generation: 0, principal: 0))
    tokens.set(token: "a")
    #expect(tokens.current() == StoredCredential(.token("a"), generation: 1, principal: 1))
    tokens.set(.password(user: "u", "p"))
    #expect(tokens.current().generation == 2)
    tokens.clear()
    #expect(tokens.current() == StoredCredential(nil, generation: 3, principal: 3))
  }

  @Test("A user name and a password are sent as Basic credentials in UTF-8")
  func basic() async throws {
    let store = MemoryCredentialsStore(.password(user: "Aladdin", "open sesame"))
    try await client(.basic(store)).over(stub).send(.ping)
    store.set(.password(user: "test", "123£:"))
    try await client(.basic(store)).over(stub).send(.ping)
    // The examples of RFC 7617 §2 and §2.1.
    #expect(authorizations == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic dGVzdDoxMjPCozo="])
  }

  @Test("An API key is sent in its field")
  func keyField() async throws {
    tokens.set(token: "k")
    try await client(.apiKey(tokens, field: "X-Api-Key")).over(stub).send(.ping)
    #expect(stub.exchanges[0].fields[text: "x-api-key"] == "k")
    #expect(authorizations == [nil])
  }

  @Test("An API key is sent in the query, encoded once")
  func keyParameter() async throws {
    tokens.set(token: "a+b/c=&d")
    try await client(.apiKey(tokens, queryParameter: "api_key")).over(stub).send(.get("/a", query: ["x": 1]))
    #expect(stub.exchanges[0].target == "/v1/a?x=1&api_key=a%2Bb%2Fc%3D%26d")
  }

  @Test("A call's own credentials take precedence, in any case, and the store is not read")
  func ownWins() async throws {
    let store = FailingStore(CancellationError())
    try await client(.bearer(store)).over(stub).send(.ping.field("authorization", "Own 1"))
    try await client(.apiKey(store, field: "X-Api-Key")).over(stub).send(.ping.field("X-API-KEY", "own"))
    try await client(.apiKey(store, queryParameter: "key")).over(stub).send(.get("/ping", query: ["key": "own"]))
    #expect(authorizations == ["Own 1", nil, nil])
    #expect(stub.exchanges[1].fields[text: "x-api-key"] == "own")
    #expect(stub.exchanges[2].target == "/v1/ping?key=own")
  }

  @Test("A call with `credentials(.none)` carries no credentials")
  func unauthenticated() async throws {
    tokens.set(token: "t")
    try await client().over(stub).send(.ping.credentials(.none))
    #expect(authorizations == [nil])
  }

  @Test("The message of an endpoint without fields carries the token")
  func noFields() async throws {
    tokens.set(token: "t")
    let request = Request<Void>.ping
    #expect(request.fields.isEmpty)
    try await client().over(stub).send(request)
    #expect(authorizations == ["Bearer t"])
  }

  @Test(
    "A message to any other origin carries no credentials: other host, port, scheme, subdomain, look-alike",
    arguments: [
      ("https", "evil.example.com"), ("https", "api.example.com:8443"), ("http", "api.example.com"),
      ("https", "api.example.com.evil.test"), ("https", "sub.api.example.com"), ("https", "api.example.com@evil.test"),
      ("https", "api.example.com."), ("https", "example.com"),
    ])
  func otherOrigins(scheme: String, authority: String) async throws {
    tokens.set(token: sentinel)
    for authentication in [
      Authentication.bearer(tokens), .apiKey(tokens, field: "X-Api-Key"), .apiKey(tokens, queryParameter: "key"),
      .basic(MemoryCredentialsStore(.password(user: "u", Secret(sentinel)))),
    ] {
      var client = client(authentication)
      client.customize = { $0.insert(SendElsewhere(scheme: scheme, authority: authority), .after(.redirects)) }
      try await client.over(stub).send(.ping)
    }
    #expect(stub.exchanges.count == 4)
    for exchange in stub.exchanges {
      #expect(exchange.fields[.authorization] == nil)
      #expect(!exchange.request.curl(redaction: nil).contains(sentinel))
    }
  }

  @Test(
    "A message to the same origin in another spelling carries the credentials",
    arguments: ["API.example.com", "api.example.com:443"])
  func sameOrigin(authority: String) async throws {
    tokens.set(token: "t")
    var client = client()
    client.customize = { $0.insert(SendElsewhere(scheme: "https", authority: authority), .after(.redirects)) }
    try await client.over(stub).send(.ping)
    #expect(authorizations == ["Bearer t"])
  }

  @Test("Messages to the origins of the authentication carry the credentials; messages to any other origin do not")
  func namedOrigins() async throws {
    tokens.set(token: "t")
    let uploads = Origin(scheme: "https", host: "uploads.example.com", port: 443)
    let authentication = Authentication.bearer(tokens, origins: [uploads])
    try await client(authentication).over(stub).send(.ping)
    var client = client(authentication)
    client.customize = {
      $0.insert(SendElsewhere(scheme: "https", authority: "uploads.example.com"), .after(.redirects))
    }
    try await client.over(stub).send(.ping)
    #expect(authorizations == [nil, "Bearer t"])
  }

  @Test("Two environments with their own stores never use each other's token, even while the client switches")
  func noCrossTalk() async throws {
    let (here, there) = (MemoryCredentialsStore(token: "here"), MemoryCredentialsStore(token: "there"))
    let client = client(.bearer(here))
    var other = Environment("other", baseURL: "https://other.example.com")
    other.authentication = .bearer(there)
    let api = client.over(stub)
    let environments = [client.environment, other]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        api.use(environments[index % 2])
        group.addTask { try await api.send(.get("/a")) }
      }
      try await group.waitForAll()
    }
    for exchange in stub.exchanges {
      let isOther = exchange.request.head.authority == "other.example.com"
      #expect(exchange.fields[.authorization] == (isOther ? "Bearer there" : "Bearer here"))
    }
    #expect(stub.exchanges.count == 200)
  }

  @Test("The field of the credentials is marked as not indexable")
  func sensitive() async throws {
    tokens.set(token: "t")
    try await client().over(stub).send(.ping)
    try await client(.apiKey(tokens, field: "X-Api-Key")).over(stub).send(.ping)
    let strategies = stub.exchanges.map { exchange in
      exchange.fields.first { ["authorization", "x-api-key"].contains($0.name.canonicalName) }?.indexingStrategy
    }
    #expect(strategies == [.disallow, .disallow])
  }
}

/// A middleware that sends the message to another origin, as a redirect would.
struct SendElsewhere: Middleware {
  let scheme: String
  let authority: String

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    request.head.scheme = scheme
    request.head.authority = authority
    return try await next(request, context: context)
  }
}

/// A middleware that sends each message twice.
struct Twice: Middleware {
  let between: @Sendable () -> Void

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: context).discard()
    between()
    var context = context
    context.attempt += 1
    return try await next(request, context: context)
  }
}

/// A store that cannot be read.
struct FailingStore: CredentialsStore {
  let error: any Error

  init(_ error: any Error) {
    self.error = error
  }

  func current() async throws -> StoredCredential { throw error }
  func set(_ credential: Credential) async throws { throw error }
  func clear() async throws { throw error }
}
