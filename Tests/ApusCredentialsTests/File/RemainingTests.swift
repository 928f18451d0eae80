import ApusMiddleware
import ApusTesting
import Testing

@testable import ApusCredentials

@Suite("Remaining lifetime of stored tokens")
struct RemainingTests {
  private let tokens = Credential.tokens(Tokens(access: "access", refresh: "refresh", lifetime: .seconds(3600)))

  @Test("Tokens age while the process does not run")
  func restart() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(tokens)
      place.wall.advance(by: 100)
      let aged = try await place.store().current().remaining
      #expect(aged == .seconds(3500))
      place.wall.advance(by: 4000)
      let over = try await place.store().current().remaining
      #expect(over == .seconds(-500))
    }
  }

  @Test("A wall clock that was set back does not extend a lifetime")
  func turnedBack() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(tokens)
      place.wall.advance(by: -1e6)
      let remaining = try await place.store().current().remaining
      #expect(remaining == .seconds(3600))
    }
  }

  @Test("In a running process, setting the wall clock back extends no lifetime, and setting it forward shortens it")
  func running() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(tokens)
      place.clock.advance(by: .seconds(50))
      place.wall.advance(by: -1e6)
      let turnedBack = try await store.current().remaining
      #expect(turnedBack == .seconds(3550))
      place.wall.advance(by: 1e6 + 80)
      let turnedOn = try await store.current().remaining
      #expect(turnedOn == .seconds(3520))
    }
  }

  @Test("A refresh restarts the lifetime; tokens without a lifetime do not expire")
  func refreshed() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(tokens)
      place.wall.advance(by: 3000)
      let generation = try await store.current().generation
      let isRefreshed = try await store.refresh(generation, to: tokens)
      #expect(isRefreshed)
      let remaining = try await place.store().current().remaining
      #expect(remaining == .seconds(3600))
      try await store.set(.token("for ever"))
      let endless = try await store.current().remaining
      #expect(endless == nil)
    }
  }

  @Test(
    "No value of the wall clock makes a record trap",
    arguments: [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0])
  func oddTimes(now: Double) throws {
    let record = CredentialRecord.empty.replaced(by: tokens, at: 1_790_000_000).counted(from: now, random: .max)
    let remaining = try #require(record.remaining(at: now))
    #expect(remaining <= .seconds(3600))
    let kept = CredentialRecord(try CredentialRecord.empty.replaced(by: tokens, at: now).encoded())
    #expect(kept?.credential == tokens)
  }

  @Test("The generation of a record overflows to 0 after its largest value")
  func overflow() {
    let last = CredentialRecord(credential: nil, account: nil, generation: .max, principal: .max, since: 0)
    #expect(last.replaced(by: tokens, at: 0).generation == 0)
  }

  @Test("A new store starts at an unpredictable generation that exceeds those of earlier stores")
  func counting() {
    let early = CredentialRecord.empty.counted(from: 1_790_000_000, random: 1 << 50)
    let milliseconds: UInt64 = 1_790_000_000_000
    #expect(early.generation == milliseconds * 1_048_576 + 64)
    #expect(early.principal == early.generation)
    #expect(CredentialRecord.empty.counted(from: 1_790_000_000.5, random: 0).generation > early.generation)
    #expect(CredentialRecord.empty.counted(from: 1_790_000_000, random: .max).generation != early.generation)
    let turnedBack = early.replaced(by: tokens, at: 0).counted(from: 0, random: .max)
    #expect(turnedBack.generation == early.generation + 1 && turnedBack.principal == early.principal + 1)
    #expect(CredentialRecord.empty.counted(from: .infinity, random: .max).generation < UInt64.max / 2)
  }
}
