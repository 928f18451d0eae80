#if os(Linux) || os(macOS)
import ApusMiddleware
import ApusTestServer
import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusCredentials

extension WorkerProcess {
  fileprivate convenience init(_ verb: String, _ place: CredentialsFolder, _ baseURL: String = "") throws {
    try self.init(.credentials, verb, place.file, place.keyFile, baseURL)
  }

  /// Waits for a line of the process, and checks it.
  fileprivate func expectLine(_ text: String) async throws {
    let line = try await line()
    #expect(line == text)
  }
}

@Suite("Several processes with one credentials file", .timeLimit(.minutes(5)))
struct ProcessesTests {
  /// Stores tokens that expired an hour ago.
  private func storeOldTokens(in place: CredentialsFolder) async throws -> FileCredentialsStore {
    let early = FileCredentialsStore(
      at: place.file, key: .file(place.keyFile), now: { Date(timeIntervalSinceNow: -7200) })
    try await early.set(.tokens(Tokens(access: "access-0", refresh: "refresh-0", lifetime: .seconds(3600))))
    return place.waitingStore()
  }

  @Test(
    "If several processes find their token expired at the same time, one refreshes, and each call gets a response",
    arguments: [2, 4])
  func together(count: Int) async throws {
    let gate = Gate()
    let tokens = TokenServer(gate: gate)
    try await CredentialsFolder.with { place in
      let store = try await storeOldTokens(in: place)
      try await TestServer.with(tokens.answer) { server in
        let workers = try (0..<count).map { _ in try WorkerProcess("call-together", place, server.origin) }
        for worker in workers { try await worker.expectLine("ready") }
        var lines: [String] = []
        for worker in workers { lines.append(try await worker.line()) }
        // All processes wait: the response to the refreshing process is delayed.
        #expect(lines.sorted() == ["refreshing"] + Array(repeating: "waits", count: count - 1))
        gate.open()
        for worker in workers { try await worker.expectLine("response for access-1") }
        for worker in workers { await worker.waitUntilEnd() }
        #expect(tokens.refreshes == 1)
        let stored = try await store.current()
        guard case .tokens(let new)? = stored.credential else {
          Issue.record("no tokens")
          return
        }
        #expect(new.access == "access-1" && new.refresh == "refresh-1")
      }
    }
  }

  @Test(
    "If a process dies before it stores new tokens, the old tokens stay, and the next process refreshes immediately"
  )
  func diesBeforeKeeping() async throws {
    let tokens = TokenServer()
    try await CredentialsFolder.with { place in
      let store = try await storeOldTokens(in: place)
      let old = try await store.current()
      try await TestServer.with(tokens.answer) { server in
        let dying = try WorkerProcess("call-slowly", place, server.origin)
        try await dying.expectLine("ready")
        try await dying.expectLine("refreshed")
        await dying.kill()
        let kept = try await place.waitingStore().current()
        #expect(kept.credential == old.credential && kept.generation == old.generation)
        let next = try WorkerProcess("call", place, server.origin)
        try await next.expectLine("ready")
        try await next.expectLine("response for access-2")
        await next.waitUntilEnd()
        #expect(tokens.refreshes == 2)
        let new = try await store.current()
        #expect(new.generation == old.generation + 1 && new.principal == old.principal)
      }
    }
  }

  @Test("A process that dies during a write leaves complete content", arguments: 1...8)
  func diesWhileWriting(lines: Int) async throws {
    try await CredentialsFolder.with { place in
      let worker = try WorkerProcess("store-many", place)
      var last = 0
      while last < lines * 3 { last = Int(try await worker.line()) ?? 0 }
      await worker.kill()
      let store = place.waitingStore()
      let stored = try await store.current()
      guard case .token(let token)? = stored.credential else {
        Issue.record("no token")
        return
      }
      let number = try #require(Int(token.value.dropFirst("token-".count)))
      #expect(number >= last)
      try await store.withLock { #expect(!place.exists(place.draft)) }
      try await store.set(.token("new"))
      let new = try await place.waitingStore().current()
      #expect(new.credential == .token("new") && new.generation == stored.generation + 1)
    }
  }

  @Test("The lease of a dead process is free")
  func diesWithLease() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      let worker = try WorkerProcess("lock", place)
      try await worker.expectLine("locked")
      let waiter = Task { try await store.withLock {} }
      // The store waits for the lease.
      try await place.clock.waitForSleepers(1)
      await worker.kill()
      place.clock.advance(by: .seconds(1))
      try await waiter.value
    }
  }

  @Test("A sign-out in one process is not undone by a refresh in another")
  func signsOut() async throws {
    let tokens = TokenServer()
    try await CredentialsFolder.with { place in
      let store = try await storeOldTokens(in: place)
      try await TestServer.with(tokens.answer) { server in
        let worker = try WorkerProcess("call-slowly", place, server.origin)
        try await worker.expectLine("ready")
        try await worker.expectLine("refreshed")
        try await store.clear()
        try worker.resume()
        let line = try await worker.line()
        #expect(line.hasPrefix("error"))
        #expect(!line.contains("access-") && !line.contains("refresh-"))
        await worker.waitUntilEnd()
        let stored = try await place.waitingStore().current()
        #expect(stored.credential == nil)
      }
    }
  }

  @Test("Processes that create the key concurrently use the same key")
  func makeKey() async throws {
    try await CredentialsFolder.with { place in
      let workers = try (0..<4).map { _ in try WorkerProcess("store", place) }
      for worker in workers {
        await worker.waitUntilEnd()
        do {
          let line = try await worker.line()
          Issue.record("it says \(line)")
        } catch is WorkerProcess.Ended {}
      }
      let stored = try await place.waitingStore().current()
      #expect(stored.credential == .token("0"))
    }
  }
}
#endif
