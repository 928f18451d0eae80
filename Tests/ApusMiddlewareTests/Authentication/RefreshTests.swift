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

@Suite("Refresh")
struct RefreshTests {
  private let ping = Request<String>.get("/ping")

  @Test("A rejected call is resent with new tokens, and the caller gets only the second response")
  func rejected() async throws {
    let bench = RefreshBench()
    bench.expire()
    let response = try await bench.client().response(to: ping)
    #expect(response.value == "ok ")
    #expect(bench.authorizations == ["Bearer access-1", "Bearer access-2"])
    #expect(bench.refreshes == 1)
    #expect(bench.events.all.isEmpty)
    let kinds = response.trace.events.map(\.kind)
    #expect(kinds.contains(.credentialsRejected(generation: 0)))
    #expect(kinds.contains(.credentialsAdded(generation: 1)))
    #expect(kinds.contains(.note("refreshes the credentials of generation", 0)))
  }

  @Test("A hundred calls rejected with one token make one refresh, and each gets a response")
  func many() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    for round in 1...3 {
      bench.expire()
      let answers = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 { group.addTask { [ping] in try await api.send(ping) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: "ok ", count: 100))
      #expect(bench.refreshes == round)
    }
  }

  @Test("A refresh call carries no credentials and waits for no refresh, even if an ordinary client sends it")
  func exempt() async throws {
    let bench = RefreshBench()
    let itself = Log<Client>()
    for api in [
      bench.client(), bench.client { refresh in try await itself.all[1].send(.newTokens(for: refresh.token)) },
    ] {
      itself.add(api)
      bench.expire()
      let text = try await api.send(ping)
      #expect(text == "ok ")
    }
    let refreshes = bench.stub.exchanges.filter { $0.target == "/v1/token" }
    #expect(refreshes.map { $0.fields[.authorization] } == [nil, nil])
  }

  @Test("A refresh that uses another authentication with the same store does not wait for itself")
  func sameStore() async throws {
    let bench = RefreshBench()
    let other = bench.client()
    bench.expire()
    let api = bench.client { refresh in
      _ = await failure { try await other.send(Request<String>.get("/who")) }
      return try await other.send(.newTokens(for: refresh.token))
    }
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.exchanges.first { $0.target == "/v1/who" }?.fields[.authorization] == nil)
  }

  @Test("An expiry date of the server is measured by the server's clock")
  func serverTime() async throws {
    let bench = RefreshBench()
    bench.expire()
    let far = "Sun, 06 Nov 2044 08:49:37 GMT"
    var fields = HTTPFields()
    fields[.date] = far
    bench.replyToRefreshes(with: .json(#"{"access_token":"access-0"}"#, fields: fields))
    let times = Log<Duration>()
    let api = bench.client { refresh in
      var tokens = try await refresh.send(.newTokens(for: refresh.token))
      let end = Date(timeIntervalSince1970: 2_362_034_977 + 60)
      tokens.lifetime = refresh.time(until: end)
      times.add(refresh.time(until: end))
      bench.clock.advance(by: .seconds(10))
      times.add(refresh.time(until: end))
      return tokens
    }
    _ = await failure { try await api.send(ping) }
    // The field `Date` has whole seconds, rounded down: on average it is half a second late.
    #expect(times.all == [.milliseconds(59_500), .milliseconds(49_500)])
    // The token has aged by the ten seconds before it was stored.
    #expect(bench.tokens.current().remaining == .milliseconds(49_500))
  }

  @Test(
    "An expiry date out of range is treated as a hundred years away",
    arguments: [(1e30, 1), (-1e30, -1), (.infinity, 1), (-.infinity, -1), (Double(Int64.max), 1), (.nan, 0)])
  func hostileEnd(seconds: Double, sign: Int) async throws {
    let bench = RefreshBench()
    bench.expire()
    let times = Log<Duration>()
    let api = bench.client { refresh in
      var tokens = try await refresh.send(.newTokens(for: refresh.token))
      tokens.lifetime = refresh.time(until: Date(timeIntervalSince1970: seconds))
      times.add(tokens.lifetime ?? .zero)
      return tokens
    }
    _ = await failure { try await api.send(ping) }
    #expect(times.all.first == Duration.seconds(100 * 366 * 24 * 60 * 60) * sign)
  }

  @Test(
    "Content is resent with its call; content that can be read only once is an error, and the next call succeeds")
  func content() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    let echoed = try await api.send(Request<String>.post("/echo", content: .text("hello")))
    #expect(echoed == "ok hello")
    bench.expire()
    let stream = ContentStream(isReplayable: false) { { nil } }
    let error = try #require(
      await failure { try await api.send(Request<String>.post("/echo", content: .stream(stream))) })
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .responded)
    #expect(error.detail.contains("can be read only once"))
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 2)
  }

  @Test("A second rejection in a row is the call's response, with one event and a cool-down")
  func second() async throws {
    let bench = RefreshBench()
    let rejecting = StubTransport()
    rejecting.on(.post, "/v1/token", reply: .json(#"{"access_token":"new"}"#))
    rejecting.on(.get, "/v1/ping", reply: .json(#"{"message":"never"}"#, status: 401))
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    client.settings.runtime = Runtime(clock: bench.clock)
    client.onSessionEnd = bench.events.add
    let api = client.over(rejecting)
    for _ in 0..<3 {
      let error = await failure { try await api.send(ping) }
      #expect(error?.code == .rejected && error?.status == 401)
      #expect(error?.errorDescription == "never")
    }
    #expect(rejecting.exchanges.count { $0.target == "/v1/token" } == 1)
    #expect(rejecting.exchanges.count { $0.target == "/v1/ping" } == 4)
    #expect(bench.events.all.count == 1)
    // The old refresh token stays valid if the server issues no new refresh token.
    #expect(bench.tokens.current().credential == .tokens(Tokens(access: "new", refresh: "refresh-1")))
  }

  @Test("A streamed call is refreshed before its closure runs")
  func streamed() async throws {
    let bench = RefreshBench()
    bench.expire()
    let text = try await bench.client().withResponse(to: ping) { response in
      String(decoding: try await response.collect(), as: UTF8.self)
    }
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
  }

  @Test("A call that requires credentials is not sent after a sign-out")
  func required() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    let text = try await api.send(ping.credentials(.required))
    #expect(text == "ok ")
    try await api.signOut()
    let error = await failure { try await api.send(ping.credentials(.required)) }
    #expect(error?.code == .refused && error?.requestState == .notSent)
    #expect(bench.exchanges.count == 1)
  }

  @Test("A described message causes no refresh")
  func described() async throws {
    let bench = RefreshBench(lifetime: .seconds(10))
    bench.clock.advance(by: .seconds(20))
    let message = try await bench.client().message(for: ping)
    #expect(message.head.headerFields[.authorization] == "Bearer access-1")
    #expect(bench.stub.exchanges.isEmpty)
  }

  @Test("A refresh does not change the principal")
  func principal() async throws {
    let bench = RefreshBench()
    bench.expire()
    let before = bench.tokens.current()
    _ = try await bench.client().send(ping)
    let after = bench.tokens.current()
    #expect(after.generation == before.generation + 1)
    #expect(after.principal == before.principal)
    bench.tokens.set(Tokens(access: "other"))
    #expect(bench.tokens.current().principal == before.principal + 1)
  }
}
