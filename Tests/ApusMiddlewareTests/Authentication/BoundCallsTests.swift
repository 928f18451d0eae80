import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Waiting calls and a change of account")
struct BoundCallsTests {
  typealias Wait = BoundBench.Wait
  typealias Change = BoundBench.Change

  @Test(
    "A call is sent with the credentials of its own account or not at all, wherever it waits",
    arguments: Wait.allCases, Change.allCases)
  func bound(_ wait: Wait, _ change: Change) async throws {
    let bench = BoundBench(wait)
    let calls = try await bench.start(bench.client())
    let before = wait.sentBefore
    #expect(bench.authorizations == before.authorizations)
    bench.perform(change)
    bench.endWait()
    for call in calls {
      switch await call.value {
      case .success(let text): #expect(change.keepsPrincipal && text == "ok")
      case .failure(let error):
        #expect(!change.keepsPrincipal, "\(error)")
        #expect(error.code == .refused && error.underlying is PrincipalChangedError, "\(error)")
        #expect(error.sessionEnd == .signedOut && error.isSessionOver)
        #expect(error.requestState == before.state)
        // The call is not retried.
        #expect(wait == .customMiddleware || error.failedAttempts.last?.decision == .giveUp(.notTemporary))
      }
    }
    #expect(bench.authorizations == before.authorizations + (change.keepsPrincipal ? ["Bearer two"] : []))
    #expect(bench.events.all.isEmpty)
  }

  @Test("All pages of a list belong to one account", arguments: [false, true])
  func pages(prefetching: Bool) async throws {
    let (stub, store) = (StubTransport(), MemoryCredentialsStore(.token("one")))
    stub.on(where: { _, _ in true }, reply: { .text($0.target) })
    var client = TestClient()
    client.environment.authentication = .bearer(store)
    let api = client.over(stub)
    let pages = api.pages(of: { Request<String>.get("/items", query: ["page": $0]) }, next: .number { _ in true })
    var loop = (prefetching ? pages.prefetching() : pages).makeAsyncIterator()
    _ = try await loop.next()
    if prefetching { _ = try await loop.next() }
    store.set(token: "two")
    var error: CallError?
    do {
      for _ in 0..<2 { _ = try await loop.next() }
    } catch let failure {
      error = failure
    }
    #expect(error?.code == .refused)
    #expect(stub.exchanges.allSatisfy { $0.fields[.authorization] == "Bearer one" })
  }

  @Test(
    "A call that began signed out is sent without credentials, even after a sign-in",
    arguments: Wait.allCases.filter { $0 != .refresh && $0 != .challenge })
  func signedOut(_ wait: Wait) async throws {
    let bench = BoundBench(wait, isSignedIn: false)
    let calls = try await bench.start(bench.client())
    bench.perform(.otherSignIn)
    bench.endWait()
    for call in calls {
      let text = try await call.value.get()
      #expect(text == "ok")
    }
    #expect(bench.authorizations.allSatisfy { $0 == nil } && !bench.authorizations.isEmpty)
  }

  @Test("A call that is not sent because the account changed is neither a failure for the breaker nor a rejection")
  func breaker() async throws {
    let bench = BoundBench(.customMiddleware)
    let breaker = CircuitBreaker(BreakerPolicy(consecutiveFailures: 1))
    let calls = try await bench.start(bench.client { $0.insert(breaker, .after(.breaker)) })
    bench.perform(.otherSignIn)
    bench.endWait()
    #expect(await calls[0].value.failure?.code == .refused)
    #expect(breaker.statuses.values.allSatisfy { $0 == .closed })
    #expect(bench.events.all.isEmpty)
  }

  @Test("Signing out and in again as the same account ends the calls of the earlier session")
  func signedInAgain() async throws {
    let bench = BoundBench(.pausedTag)
    let calls = try await bench.start(bench.client())
    bench.tokens.clear()
    bench.perform(.sameAccount)
    bench.endWait()
    #expect(await calls[0].value.failure?.underlying is PrincipalChangedError)
    #expect(bench.authorizations.isEmpty)
  }

  @Test("A call is bound to each of several authentications, and a change of either account ends the call")
  func several() async throws {
    let (first, second) = (MemoryCredentialsStore(token: "a"), MemoryCredentialsStore(token: "b"))
    let (stub, gate) = (StubTransport.answering(), Gate())
    var client = TestClient()
    client.environment.authentications = [.bearer(first), .apiKey(second, field: "X-Api-Key")]
    client.customize = { $0.insert(Hold(gate: gate), .before(.retry)) }
    let api = client.over(stub)
    let call = Task { await failure { try await api.send(.ping) } }
    try await gate.waitForArrivals(1)
    second.set(token: "c")
    gate.open()
    #expect(await call.value?.underlying is PrincipalChangedError)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("A response under way is delivered to its own call, but not to coalesced calls of the next account")
  func delivered() async throws {
    let (stub, gate) = (StubTransport(), Gate())
    let handler: StubTransport.Handler = { exchange in
      StubReply.text(exchange.fields[.authorization] ?? "none").waiting(for: gate)
    }
    stub.on(where: { _, _ in true }, reply: handler)
    let tokens = MemoryCredentialsStore(token: "one")
    var client = TestClient()
    client.environment.authentication = .bearer(tokens)
    let api = client.over(stub)
    let request = Request<String>.get("/mine").coalesced()
    async let first = api.send(request)
    try await gate.waitForArrivals(1)
    tokens.set(token: "two")
    async let second = api.send(request)
    try await gate.waitForArrivals(2)
    gate.open()
    #expect(try await first == "Bearer one")
    #expect(try await second == "Bearer two")
  }

  @Test("In a pipeline without PrincipalBinding, a call that would carry credentials is not sent")
  func unbound() async throws {
    var environment = Environment(baseURL: "https://api.example.com")
    environment.authentication = .bearer(MemoryCredentialsStore(token: "one"))
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    let api = Client(environment: environment, pipeline: [.authentication: AuthenticationMiddleware()], transport: stub)
    let error = await failure { try await api.send(Request<Void>.method(.get, "/mine")) }
    #expect(error?.code == .invalidRequest && error?.detail.contains("PrincipalBinding") == true)
    #expect(stub.exchanges.isEmpty)
    try await api.send(Request<Void>.method(.get, "/open").credentials(.none))
    #expect(stub.exchanges.count == 1)
  }

  @Test("PrincipalBinding follows TimeoutMiddleware directly, before all middlewares that wait")
  func described() {
    let names = TestClient().over(StubTransport()).describe().layers.map(\.name)
    #expect(names.firstIndex(of: "PrincipalBinding") == names.firstIndex(of: "TimeoutMiddleware").map { $0 + 1 })
  }
}

@Suite("Streams and a change of account")
struct BoundStreamsTests {
  private let stub = StubTransport()
  private let tokens = MemoryCredentialsStore()
  private let gate = Gate()

  init() {
    tokens.set(.token("one"), account: "ada")
    stub.onAny(reply: .pieces(["first", "second"], gate: gate))
  }

  private func client(_ store: any CredentialsStore) -> Client {
    var client = TestClient()
    client.environment.authentication = .bearer(store)
    return client.over(stub)
  }

  /// Starts to read a stream whose second piece waits, and returns after the first piece. The task returns the pieces,
  /// or the error that ended the stream.
  private func read(_ api: Client) async throws -> Task<Result<[String], CallError>, Never> {
    let isReading = Gate()
    gate.release()
    let stream = Task { () async -> Result<[String], CallError> in
      do throws(CallError) {
        return .success(
          try await api.withResponse(to: Request<Void>.get("/events")) { response in
            var pieces: [String] = []
            while let piece = try await response.next() {
              pieces.append(String(decoding: piece, as: UTF8.self))
              isReading.open()
            }
            return pieces
          })
      } catch {
        return .failure(error)
      }
    }
    try await isReading.wait()
    return stream
  }

  private func expectEnded(_ stream: Task<Result<[String], CallError>, Never>) async {
    let error = await stream.value.failure
    #expect(error?.code == .refused && error?.requestState == .responded, "\(String(describing: error))")
    #expect(error?.underlying is PrincipalChangedError)
  }

  @Test("An open stream ends when its account signs out: through the client, the store or another sign-in")
  func signedOut() async throws {
    for trigger in 0..<3 {
      tokens.set(.token("one"), account: "ada")
      let api = client(tokens)
      let stream = try await read(api)
      switch trigger {
      case 0: try await api.signOut()
      case 1: tokens.clear()
      default: tokens.set(.token("two"), account: "bob")
      }
      await expectEnded(stream)
    }
    try await stub.waitUntilIdle()
  }

  @Test("An open stream continues when its credentials are refreshed or set again for the same account")
  func sameAccount() async throws {
    let stream = try await read(client(tokens))
    #expect(tokens.refresh(tokens.current().generation, to: .token("two")))
    tokens.set(.token("three"), account: "ada")
    gate.open()
    #expect(try await stream.value.get() == ["first", "second"])
  }

  @Test("A store without notifications ends the stream at signOut() or with the next call")
  func silentStore() async throws {
    for trigger in 0..<2 {
      tokens.set(.token("one"), account: "ada")
      let api = client(SilentStore(tokens: tokens))
      let stream = try await read(api)
      if trigger == 0 {
        try await api.signOut()
      } else {
        tokens.clear()
        _ = try await api.message(for: .ping)
      }
      await expectEnded(stream)
    }
  }
}

/// A store without notifications.
private struct SilentStore: CredentialsStore {
  let tokens: MemoryCredentialsStore

  func current() -> StoredCredential { tokens.current() }
  func set(_ credential: Credential) { tokens.set(credential) }
  func clear() { tokens.clear() }
}

extension Result {
  /// The error; `nil` for a success.
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}
