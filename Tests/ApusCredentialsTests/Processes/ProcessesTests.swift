#if os(Linux) || os(macOS)
import ApusMiddleware
import ApusTestServer
import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusCredentials

extension WorkerProcess {
  fileprivate convenience init(_ verb: String, _ place: Position, _ baseURL: String = "") throws {
    try self.init(.credentials, verb, place.file, place.keyFile, baseURL)
  }

  /// Waits for a line.
  fileprivate func says(_ text: String) async throws {
    let line = try await line()
    #expect(line == text)
  }
}

@Suite("Several processes with one credentials file", .timeLimit(.minutes(5)))
struct ProcessesTests {
  /// Tokens that have been over for an hour, kept by this process.
  private func keepOldTokens(in place: Position) async throws -> FileCredentialsStore {
    let early = FileCredentialsStore(
      at: place.file, key: .file(place.keyFile), now: { Date(timeIntervalSinceNow: -7200) })
    try await early.set(.tokens(Tokens(access: "access-0", refresh: "refresh-0", lifetime: .seconds(3600))))
    return place.waitingStore()
  }

  @Test(
    "However many processes find their token expired at once, there is one refresh, and each call gets a response",
    arguments: [2, 4])
  func together(count: Int) async throws {
    let gate = Gate()
    let tokens = TokenServer(gate: gate)
    try await Position.with { place in
      let store = try await keepOldTokens(in: place)
      try await TestServer.with(tokens.answer) { server in
        let workers = try (0..<count).map { _ in try WorkerProcess("call-together", place, server.origin) }
        for worker in workers { try await worker.says("ready") }
        var said: [String] = []
        for worker in workers { said.append(try await worker.line()) }
        // All processes wait: the response to the one that refreshes is held.
        #expect(said.sorted() == ["asks"] + Array(repeating: "waits", count: count - 1))
        gate.open()
        for worker in workers { try await worker.says("answer for access-1") }
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
    "A process that dies before it stores new tokens leaves the old ones, and the next process refreshes at once"
  )
  func diesBeforeKeeping() async throws {
    let tokens = TokenServer()
    try await Position.with { place in
      let store = try await keepOldTokens(in: place)
      let old = try await store.current()
      try await TestServer.with(tokens.answer) { server in
        let dying = try WorkerProcess("call-slowly", place, server.origin)
        try await dying.says("ready")
        try await dying.says("asked")
        await dying.kill()
        let kept = try await place.waitingStore().current()
        #expect(kept.credential == old.credential && kept.generation == old.generation)
        let next = try WorkerProcess("call", place, server.origin)
        try await next.says("ready")
        try await next.says("answer for access-2")
        await next.waitUntilEnd()
        #expect(tokens.refreshes == 2)
        let new = try await store.current()
        #expect(new.generation == old.generation + 1 && new.principal == old.principal)
      }
    }
  }

  @Test("A process that dies during a write leaves complete content", arguments: 1...8)
  func diesWhileWriting(lines: Int) async throws {
    try await Position.with { place in
      let worker = try WorkerProcess("keep-on", place)
      var said = 0
      while said < lines * 3 { said = Int(try await worker.line()) ?? 0 }
      await worker.kill()
      let store = place.waitingStore()
      let stored = try await store.current()
      guard case .token(let token)? = stored.credential else {
        Issue.record("no token")
        return
      }
      let number = try #require(Int(token.value.dropFirst("token-".count)))
      #expect(number >= said)
      try await store.withLock { #expect(!place.exists(place.draft)) }
      try await store.set(.token("new"))
      let new = try await place.waitingStore().current()
      #expect(new.credential == .token("new") && new.generation == stored.generation + 1)
    }
  }

  @Test("The lease of a process that dies is free")
  func diesWithLease() async throws {
    try await Position.with { place in
      let store = place.store()
      let worker = try WorkerProcess("hold", place)
      try await worker.says("held")
      let waiter = Task { try await store.withLock {} }
      // It has asked for the lease and not got it.
      try await place.clock.waitForSleepers(1)
      await worker.kill()
      place.clock.advance(by: .seconds(1))
      try await waiter.value
    }
  }

  @Test("A sign-out in one process is not undone by a refresh in another")
  func signsOut() async throws {
    let tokens = TokenServer()
    try await Position.with { place in
      let store = try await keepOldTokens(in: place)
      try await TestServer.with(tokens.answer) { server in
        let worker = try WorkerProcess("call-slowly", place, server.origin)
        try await worker.says("ready")
        try await worker.says("asked")
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

  @Test("Processes that create the key at once all use the same one")
  func makeKey() async throws {
    try await Position.with { place in
      let workers = try (0..<4).map { _ in try WorkerProcess("keep", place) }
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
