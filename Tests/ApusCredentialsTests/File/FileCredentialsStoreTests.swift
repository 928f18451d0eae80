import ApusMiddleware
import Foundation
import Testing

@testable import ApusCredentials

@Suite("Credentials file")
struct FileCredentialsStoreTests {
  static let kinds: [Credential] = [
    .token("a token"),
    .tokens(Tokens(access: "access")),
    .tokens(Tokens(access: "access", refresh: "refresh", lifetime: .milliseconds(3_600_500))),
    .tokens(Tokens(access: "", lifetime: .zero)),
    .password(user: "ada", "pass\n\"\\\0 wörd 🔑"),
  ]

  @Test("A process that starts later reads the stored credentials", arguments: kinds)
  func roundTrip(credential: Credential) async throws {
    try await CredentialsFolder.with { place in
      let first = place.store()
      try await first.set(credential)
      let (kept, read) = (try await first.current(), try await place.store().current())
      #expect(kept == read)
      #expect(read.credential == credential)
      try await first.clear()
      let cleared = try await place.store().current()
      #expect(cleared.credential == nil)
      #expect(cleared.generation == kept.generation + 1)
    }
  }

  @Test("Without a file the store is signed out, and reading creates no file")
  func nothing() async throws {
    try await CredentialsFolder.with { place in
      let stored = try await place.store().current()
      #expect(stored == StoredCredential(nil, generation: 0, principal: 0))
      #expect(!place.exists(place.folder))
    }
  }

  @Test("The files and the folder are accessible to their owner only")
  func modes() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("token"))
      try await store.withLock {}
      for name in ["credentials", "credentials.lock", "credentials.lease", "key"] {
        #expect(CredentialsFolder.mode(of: place.folder + "/" + name) == 0o600, "\(name)")
      }
      #expect(CredentialsFolder.mode(of: place.folder) == 0o700)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder).count == 4)
    }
  }

  @Test("A refresh keeps the principal, a sign-in or sign-out changes it, and each increases the generation")
  func counting() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("1"))
      let first = try await store.current()
      let isRefreshed = try await store.refresh(first.generation, to: .token("2"))
      let second = try await store.current()
      #expect(isRefreshed && second.credential == .token("2"))
      #expect(second.generation == first.generation + 1 && second.principal == first.principal)
      try await store.set(.token("3"))
      let third = try await store.current()
      #expect(third.generation == second.generation + 1 && third.principal == second.principal + 1)
      let isRemoved = try await store.refresh(third.generation, to: nil)
      let fourth = try await store.current()
      #expect(isRemoved && fourth.credential == nil)
      #expect(fourth.generation == third.generation + 1 && fourth.principal == third.principal + 1)
    }
  }

  @Test("Credentials that are set for the same account keep the principal, also after a restart")
  func accounts() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("1"), account: "ada")
      let first = try await store.current()
      try await place.store().set(.token("2"), account: "ada")
      let second = try await store.current()
      #expect(second.credential == .token("2") && second.generation == first.generation + 1)
      #expect(second.principal == first.principal && second.account == "ada")
      // A refresh keeps the account, too.
      #expect(try await store.refresh(second.generation, to: .token("3")))
      #expect(try await place.store().current().account == "ada")
      try await store.set(.token("4"), account: "ada")
      #expect(try await store.current().principal == first.principal)
      try await store.set(.token("5"), account: "bob")
      let other = try await store.current()
      #expect(other.principal == first.principal + 1)
      // After a sign-out, or without a named account, the same account gets a new session.
      try await store.clear()
      #expect(try await store.current().account == nil)
      try await store.set(.token("6"), account: "bob")
      try await store.set(.token("7"))
      #expect(try await store.current().account == nil)
      try await store.set(.token("8"), account: "bob")
      #expect(try await store.current().principal == other.principal + 4)
    }
  }

  @Test("A refresh has no effect after another process has signed out or in", arguments: [String?.none, "other"])
  func overtaken(by token: String?) async throws {
    try await CredentialsFolder.with { place in
      let (mine, other) = (place.store(), place.store())
      try await mine.set(.token("old"))
      let old = try await mine.current()
      if let token { try await other.set(.token(Secret(token))) } else { try await other.clear() }
      let offered: [Credential?] = [.token("new"), nil]
      for credential in offered {
        let isRefreshed = try await mine.refresh(old.generation, to: credential)
        #expect(!isRefreshed)
      }
      let (now, there) = (try await mine.current(), try await other.current())
      #expect(now == there)
      #expect(now.credential == token.map { Credential.token(Secret($0)) })
      #expect(now.principal != old.principal)
    }
  }

  @Test("A write by one process takes effect in all processes immediately")
  func shared() async throws {
    try await CredentialsFolder.with { place in
      let stores = [place.store(), place.store()]
      var last: UInt64 = 0
      for round in 0..<60 {
        // Several consecutive writes, so that the system is likely to reuse an inode number.
        for step in 0...(round % 3) { try await stores[round % 2].set(.token(Secret("\(round).\(step)"))) }
        for store in stores {
          let stored = try await store.current()
          #expect(stored.credential == .token(Secret("\(round).\(round % 3)")))
          #expect(stored.generation >= last)
          last = stored.generation
        }
      }
    }
  }

  @Test("While the file is unchanged, neither the file nor the key is read again")
  func unread() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      let store = place.store()
      let before = try await store.current()
      try FileManager.default.removeItem(atPath: place.keyFile)
      let after = try await store.current()
      #expect(before == after)
      let found = await reason { _ = try await place.store().current() }
      #expect(found == .keyMissing)
    }
  }

  @Test("Removing the file signs out, and no generation or principal is used again")
  func removed() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("old"))
      let old = try await store.current()
      try FileManager.default.removeItem(atPath: place.file)
      let gone = try await store.current()
      #expect(gone.credential == nil && gone.generation > old.generation && gone.principal > old.principal)
      let again = try await store.current()
      #expect(again == gone)
      place.wall.advance(by: 1)
      try await place.store().set(.token("new"))
      let new = try await store.current()
      #expect(new.credential == .token("new"))
      #expect(new.generation > gone.generation && new.principal > gone.principal)
    }
  }

  @Test("Each successful write or refresh increases the generation by one, even if several run concurrently")
  func load() async throws {
    try await CredentialsFolder.with { place in
      let stores = (0..<3).map { _ in place.waitingStore() }
      try await stores[0].set(.token("0"))
      let first = try await stores[0].current().generation
      let refreshed = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<30 {
          let store = stores[number % 3]
          group.addTask {
            if number % 5 == 0 {
              try await store.set(.token(Secret("\(number)")))
              return true
            }
            let present = try await store.current()
            return try await store.refresh(present.generation, to: .token(Secret("\(number)")))
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      for store in stores {
        let last = try await store.current().generation
        #expect(last == first + UInt64(refreshed))
      }
    }
  }
}
