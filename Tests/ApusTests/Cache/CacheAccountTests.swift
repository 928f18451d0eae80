import Apus
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("A cache of several accounts")
struct CacheAccountTests {
  private let server = AccountsServer()
  private let clock = ManualClock(.manual)
  private let tokens = MemoryCredentialsStore(token: "ann-1")

  /// Runs a test with a folder that is removed afterwards.
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/apus-account-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await body(path)
  }

  private func app(_ cache: ResponseCache, _ tokens: MemoryCredentialsStore? = nil) -> AccountsApp {
    AccountsApp(cache, tokens ?? self.tokens, at: server, AccountsApp.Way(clock: clock))
  }

  /// Runs a test in memory and in the folder of an account.
  private func withBoth(_ body: (AccountsApp) async throws -> Void) async throws {
    try await body(app(ResponseCache()))
    tokens.set(token: "ann-1")
    try await withFolder { try await body(app(ResponseCache(.folder($0), account: "ann"))) }
  }

  // MARK: Sign-out

  @Test("A sign-out removes the responses of the account, and no others")
  func signOut() async throws {
    try await withBoth { app in
      let (own, open) = (AccountsApp.Call(), AccountsApp.Call(role: .open))
      for call in [own, open] {
        _ = await app.perform(call)
        #expect(await app.perform(call).isHit)
      }
      try await app.client(.account).signOut()
      tokens.set(token: "ann-1")
      #expect(await !app.perform(own).isHit)
      #expect(await app.perform(open).isHit)
    }
  }

  @Test("The first call of another account gets nothing of the previous one, which finds nothing later")
  func otherAccount() async throws {
    try await withBoth { app in
      _ = await app.perform(.init())
      tokens.set(token: "bob-2")
      let bob = await app.perform(.init())
      #expect(!bob.isHit && bob.caller?.account == "bob-2")
      tokens.set(token: "ann-1")
      let ann = await app.perform(.init())
      #expect(!ann.isHit && ann.caller?.account == "ann-1")
    }
  }

  @Test("New tokens of the same account keep its responses")
  func rotation() async throws {
    try await withBoth { app in
      tokens.set(.token(Secret("ann-1.1")), account: "ann")
      _ = await app.perform(.init())
      tokens.set(.token(Secret("ann-1.2")), account: "ann")
      #expect(await app.perform(.init()).isHit)
    }
  }

  @Test(
    "A response that arrives after a sign-out is not stored",
    arguments: [AccountsApp.Call.Reading.buffered, .streamed, .coalesced])
  func lateResponse(reading: AccountsApp.Call.Reading) async throws {
    try await withBoth { app in
      var call = AccountsApp.Call(reading: reading)
      call.gate = "late \(server.count)"
      let late = call
      let count = server.count
      async let reply = app.perform(late)
      try await waitWhile(server.count == count)
      try await app.client(.account).signOut()
      server.gate(late.gate ?? "").open()
      _ = await reply
      let usage = await app.cache.usage
      #expect(usage == 0)
      tokens.set(token: "ann-1")
      #expect(await !app.perform(.init()).isHit)
    }
  }

  @Test("A response that arrives after the first call of another account is not stored for that account")
  func lateAcrossAccounts() async throws {
    try await withBoth { app in
      var call = AccountsApp.Call()
      call.gate = "late \(server.count)"
      let late = call
      let count = server.count
      async let reply = app.perform(late)
      try await waitWhile(server.count == count)
      tokens.set(token: "bob-2")
      _ = await app.perform(AccountsApp.Call(path: "silent"))
      server.gate(late.gate ?? "").open()
      _ = await reply
      let bob = await app.perform(.init())
      #expect(!bob.isHit && bob.caller?.account == "bob-2")
    }
  }

  // MARK: Folders

  @Test("After a restart an account finds its responses, and another account finds none")
  func restart() async throws {
    try await withFolder { path in
      func caller(_ account: String, _ token: String) async -> AccountsApp.Reply {
        let tokens = MemoryCredentialsStore(token: token)
        return await app(ResponseCache(.folder(path), account: account), tokens).perform(.init())
      }
      #expect(await !caller("ann", "ann-1").isHit)
      #expect(await caller("ann", "ann-1").isHit)
      let bob = await caller("bob", "bob-2")
      #expect(!bob.isHit && bob.caller?.account == "bob-2")
      #expect(await caller("ann", "ann-1").isHit)
    }
  }

  @Test("An app that keeps the cache of a signed-out account stores nothing that the account finds after a restart")
  func keptCache() async throws {
    try await withFolder { path in
      let first = app(ResponseCache(.folder(path), account: "ann"))
      _ = await first.perform(.init())
      try await first.client(.account).signOut()
      tokens.set(token: "bob-2")
      for _ in 0..<2 { #expect(await first.perform(.init()).caller?.account == "bob-2") }
      let next = app(ResponseCache(.folder(path), account: "ann"), MemoryCredentialsStore(token: "ann-3"))
      let reply = await next.perform(.init())
      #expect(!reply.isHit && reply.caller?.account == "ann-3")
    }
  }

  @Test("A folder without an account stores only responses to calls without credentials, and says so")
  func folderWithoutAccount() async throws {
    try await withFolder { path in
      let app = app(ResponseCache(.folder(path)))
      try await app.signIn("c1", .cookies)
      var calls = [AccountsApp.Role.account, .key, .queryKey, .cookies].map { AccountsApp.Call(role: $0) }
      for own in [Caller(tenant: "t"), Caller(token: "s"), Caller(parameter: "q")] {
        calls.append(AccountsApp.Call(role: .open, own: own))
      }
      for call in calls + calls { #expect(await !app.perform(call).isHit, "\(call)") }
      let usage = await app.cache.usage
      #expect(usage == 0)
      _ = await app.perform(.init(role: .open))
      #expect(await app.perform(.init(role: .open)).isHit)
      let warnings = app.client(.open).describe().warnings
      #expect(warnings.count == 1 && warnings.allSatisfy { $0.contains("without an account") })
      let named = self.app(ResponseCache(.folder(path), account: "ann"))
      #expect(named.client(.open).describe().warnings.isEmpty)
    }
  }

  @Test("Entries contain no token, key, cookie, account or URL of requests, and no cookie of responses")
  func filesOfEntries() async throws {
    try await withFolder { path in
      let app = app(ResponseCache(.folder(path), account: "ann@example.com"))
      tokens.set(token: "secret-token")
      try await app.signIn("secret-cookie", .cookies)
      let own = Caller(tenant: "secret-tenant", token: "secret-field", parameter: "secret-parameter")
      server.hideCallers()
      for role in AccountsApp.Role.allCases {
        for page in AccountsServer.paths { _ = await app.perform(AccountsApp.Call(role: role, path: page, own: own)) }
      }
      let usage = await app.cache.usage
      #expect(usage > 0)
      let files = try bytes(ofFilesIn: path)
      #expect(files.count > 10)
      for text in ["secret", "k1", "ann@", "example.com", "/v1/", "visited", "sid=", "Set-Cookie", "set-cookie"] {
        #expect(files.allSatisfy { !$0.contains(text) }, "\(text)")
      }
    }
  }

  private func bytes(ofFilesIn path: String) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path)
    return names.compactMap { name in
      FileManager.default.contents(atPath: path + "/" + name).map { name + " " + String(decoding: $0, as: UTF8.self) }
    }
  }

  // MARK: Keys and cookies

  @Test("Clients with different keys share a cache, and each finds its own responses")
  func keys() async throws {
    try await withBoth { app in
      let calls = [AccountsApp.Role.key, .otherKey, .queryKey].map { AccountsApp.Call(role: $0) }
      for call in calls { #expect(await !app.perform(call).isHit) }
      for (call, key) in zip(calls, ["k1", "k2", "k3"]) {
        let reply = await app.perform(call)
        #expect(reply.isHit && reply.caller?.key == key, "\(call.role)")
      }
    }
  }

  @Test("Secrets in fields and in the query tell calls apart")
  func fields() async throws {
    try await withBoth { app in
      let callers = ["1", "2"].flatMap { [Caller(tenant: $0), Caller(token: $0), Caller(parameter: $0)] } + [Caller()]
      let calls = callers.map { AccountsApp.Call(role: .open, own: $0) }
      for call in calls { #expect(await !app.perform(call).isHit) }
      for call in calls {
        let reply = await app.perform(call)
        #expect(reply.isHit && reply.caller == call.own)
      }
    }
  }

  @Test("A session of cookies ends when its jar is cleared, and sessions of different jars share nothing")
  func cookies() async throws {
    try await withBoth { app in
      try await app.signIn("c1", .cookies)
      try await app.signIn("c2", .otherCookies)
      let (call, other) = (AccountsApp.Call(role: .cookies), AccountsApp.Call(role: .otherCookies))
      for (call, cookie) in [(call, "c1"), (other, "c2"), (call, "c1"), (other, "c2")] {
        #expect(await app.perform(call).caller?.cookie == cookie)
      }
      #expect(await app.perform(call).isHit)
      app.jars[0].removeAll()
      let empty = await app.perform(call)
      #expect(!empty.isHit && empty.caller?.cookie == "")
      #expect(await app.perform(other).isHit)
    }
  }
}
