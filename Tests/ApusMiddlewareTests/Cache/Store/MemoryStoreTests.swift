import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Stored responses in memory")
struct MemoryStoreTests {
  private let store = MemoryStore(capacity: 1 << 20)

  private func key(_ path: String = "/x", account: UInt64? = nil, session: UInt64 = 0) -> CacheKey {
    CacheKey(
      target: store.subjects.target(path, at: CacheWorld.origin), account: account,
      session: KeyedDigest(first: session, second: 0))
  }

  private func update(_ lines: String..., sentAt generation: UInt64 = 0, groups: Set<String> = []) -> CacheUpdate {
    CacheWorld.update(lines, sentAt: generation, groups: groups)
  }

  @discardableResult
  private func put(_ update: CacheUpdate, _ content: String? = "content", under key: CacheKey) -> Bool {
    store.apply(update, content: content.map { Data($0.utf8) }, under: key, at: CacheWorld.origin)
  }

  private func texts(_ key: CacheKey) -> Set<String> {
    let entries = store.entries(for: key)
    return Set(entries.responses.map { String(decoding: entries.content(of: $0.id) ?? Data(), as: UTF8.self) })
  }

  // MARK: Storing

  @Test("A stored response is found under its key with its content, and under no other key")
  func stores() throws {
    #expect(store.isEmpty && store.usage == 0 && store.entries(for: key()).isEmpty)
    #expect(put(update("ETag: \"a\"", "A: b"), under: key()))
    let entries = store.entries(for: key())
    let response = try #require(entries.responses.first)
    #expect(entries.responses.count == 1 && response.fields[values: .eTag] == ["\"a\""] && response.id != 0)
    #expect(entries.content(of: response.id) == Data("content".utf8) && entries.content(of: 0) == nil)
    #expect(response.contentLength == 7)
    #expect(!store.isEmpty && store.usage > 7)
    for other in [key("/y"), key(account: 1), key(session: 1)] { #expect(store.entries(for: other).isEmpty) }
    store.removeAll()
    #expect(store.isEmpty && store.usage == 0 && store.entries(for: key()).isEmpty)
  }

  @Test("Variants are stored beside each other; outdated ones are removed")
  func variants() throws {
    put(update(), "one", under: key())
    put(update(), "two", under: key())
    #expect(texts(key()) == ["one", "two"])
    let first = try #require(store.entries(for: key()).responses.min { $0.id < $1.id })
    var third = update()
    third.outdated = [first.id]
    put(third, "three", under: key())
    #expect(texts(key()) == ["two", "three"])
    // Ids of another key have no effect.
    let others = Set(store.entries(for: key()).responses.map(\.id))
    store.apply(CacheUpdate(outdated: others, invalidated: others), under: key("/y"))
    #expect(texts(key()) == ["two", "three"])
  }

  @Test("A response to HEAD has no content, an empty one has empty content")
  func withoutContent() {
    put(update(), nil, under: key())
    put(update(), "", under: key("/y"))
    for (path, content) in [("/x", nil), ("/y", Data())] as [(String, Data?)] {
      let entries = store.entries(for: key(path))
      #expect(entries.responses.first.map { entries.content(of: $0.id) } == .some(content))
    }
  }

  @Test("A confirmed response gets new fields and keeps its content and its id")
  func freshens() throws {
    put(update("ETag: \"a\"", "A: 1"), under: key())
    let old = try #require(store.entries(for: key()).responses.first)
    var fresh = try #require(update("ETag: \"a\"", "A: 2").new)
    fresh.id = old.id
    #expect(store.apply(CacheUpdate(freshened: [fresh]), under: key()))
    let entries = store.entries(for: key())
    #expect(entries.responses == [fresh] && entries.content(of: old.id) == Data("content".utf8))
    fresh.id = 12345
    #expect(!store.apply(CacheUpdate(freshened: [fresh]), under: key()))
    fresh.id = old.id
    #expect(!store.apply(CacheUpdate(freshened: [fresh]), under: key("/y")))
  }

  @Test("A response that must be validated stays if the server can validate it")
  func invalidated() throws {
    put(update("ETag: \"a\""), "tag", under: key())
    put(update(), "none", under: key())
    store.apply(CacheUpdate(invalidated: Set(store.entries(for: key()).responses.map(\.id))), under: key())
    #expect(texts(key()) == ["tag"] && store.entries(for: key()).responses.first?.isInvalidated == true)
  }

  @Test("A response that is too large is not stored, but removes what is outdated")
  func tooLarge() {
    let small = MemoryStore(capacity: 80_000)
    let key = key()
    #expect(small.apply(update(), content: Data(count: 8000), under: key, at: CacheWorld.origin))
    var large = update()
    large.outdated = Set(small.entries(for: key).responses.map(\.id))
    #expect(!small.apply(large, content: Data(count: 10_000), under: key, at: CacheWorld.origin))
    #expect(small.entries(for: key).isEmpty && small.usage == 0)
  }

  @Test("The least recently used responses are removed at the capacity")
  func eviction() {
    let small = MemoryStore(capacity: 40_000)
    for number in 0..<10 {
      let key = key("/\(number)")
      #expect(small.apply(update(), content: Data(count: 3000), under: key, at: CacheWorld.origin))
      for id in small.entries(for: self.key("/0")).responses.map(\.id) { small.used(id) }
      #expect(small.usage <= 40_000)
    }
    let left = (0..<10).filter { !small.entries(for: key("/\($0)")).isEmpty }
    #expect(left.first == 0 && left.count == 9 && left.contains(9) && !left.contains(1))
  }

  // MARK: Invalidation

  @Test("An invalidated target is removed for all accounts; a response to an earlier request is stored as stale")
  func targets() throws {
    let generation = store.begin()
    for account in [nil, 1, 2] as [UInt64?] { put(update("ETag: \"a\""), under: key(account: account)) }
    put(update(), under: key("/y"))
    store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/x"]))
    for account in [nil, 1, 2] as [UInt64?] { #expect(store.entries(for: key(account: account)).isEmpty) }
    #expect(texts(key("/y")) == ["content"])
    // Without a validator it could never be used.
    #expect(!put(update(sentAt: generation), under: key()))
    #expect(put(update("ETag: \"a\"", sentAt: generation), under: key()))
    #expect(store.entries(for: key()).responses.map(\.isInvalidated) == [true])
    #expect(put(update(sentAt: store.begin()), under: key()))
    store.end()
  }

  @Test("An invalidated group concerns what was requested before, whenever it was stored")
  func groups() throws {
    let other = Origin(scheme: "https", host: "b.example", port: 443)
    let before = store.begin()
    put(update(groups: ["g"]), under: key())
    put(update("Cache-Groups: \"g\", \"h\"", "ETag: \"a\""), under: key("/y"))
    put(update(groups: ["h"]), under: key("/z"))
    func isInvalidated(_ path: String) -> Bool? { store.entries(for: key(path)).responses.first?.isInvalidated }
    store.invalidate(CacheInvalidation(other, groups: ["g"]))
    #expect(isInvalidated("/x") == false && isInvalidated("/y") == false)
    store.invalidate(CacheInvalidation(CacheWorld.origin, groups: ["g"]))
    #expect(isInvalidated("/x") == true && isInvalidated("/y") == true && isInvalidated("/z") == false)
    #expect(put(update("ETag: \"a\"", sentAt: before, groups: ["g"]), under: key("/late")))
    #expect(isInvalidated("/late") == true && !put(update(sentAt: before, groups: ["g"]), under: key("/later")))
    let after = store.begin()
    #expect(put(update(sentAt: after, groups: ["g"]), under: key("/new")) && isInvalidated("/new") == false)
    store.invalidate(groups: ["h", "other"])
    #expect(isInvalidated("/z") == true && isInvalidated("/new") == false)
    // A response that was confirmed after the invalidation is valid.
    var fresh = try #require(update("Cache-Groups: \"g\"", "ETag: \"a\"", sentAt: store.begin()).new)
    fresh.id = try #require(store.entries(for: key("/y")).responses.first?.id)
    #expect(store.apply(CacheUpdate(freshened: [fresh]), under: key("/y")) && isInvalidated("/y") == false)
  }

  @Test("A store is empty only without entries and without requests in flight")
  func emptiness() {
    store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/x"], groups: ["g"]))
    store.invalidate(groups: ["g"])
    let generation = store.begin()
    #expect(generation == 0 && !store.isEmpty)
    store.end()
    #expect(store.isEmpty)
    put(update(), under: key())
    #expect(!store.isEmpty)
    store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/x"]))
    #expect(store.isEmpty)
  }

  // MARK: Removal

  @Test(
    "Responses to requests that were sent before a removal are neither kept nor stored",
    arguments: ["account", "accounts", "everything"])
  func removal(_ kind: String) {
    let accounts: [UInt64?] = [nil, 1, 2]
    let before = store.begin()
    for account in accounts { put(update(), under: key(account: account)) }
    let removed: [UInt64?]
    switch kind {
    case "account":
      store.remove(account: 1)
      removed = [1]
    case "accounts":
      store.removeAccounts()
      removed = [1, 2]
    default:
      store.removeAll()
      removed = accounts
    }
    for account in accounts {
      #expect(store.entries(for: key(account: account)).isEmpty == removed.contains(account))
      #expect(put(update(sentAt: before), under: key("/late", account: account)) == !removed.contains(account))
      #expect(put(update(sentAt: store.begin()), under: key("/new", account: account)))
    }
  }

  @Test("A confirmation of a request that was sent before a removal or an invalidation changes nothing")
  func lateConfirmation() throws {
    let before = store.begin()
    let keys = [key(account: 1), key("/y")]
    for key in keys { put(update(), under: key) }
    store.remove(account: 1)
    store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/y"]))
    for key in keys {
      put(update("ETag: \"a\"", "A: new", sentAt: store.begin()), under: key)
      var late = try #require(update("ETag: \"a\"", "A: late", sentAt: before).new)
      late.id = try #require(store.entries(for: key).responses.first?.id)
      #expect(!store.apply(CacheUpdate(freshened: [late]), under: key))
      let name = try #require(HTTPField.Name("A"))
      #expect(store.entries(for: key).responses.map { $0.fields[name] } == ["new"])
    }
  }

  // MARK: Interleavings

  @Test("Random calls, sign-outs and invalidations: nothing of one account or one state is used by another")
  func interleavingsFuzz() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<fuzzRounds(usually: 200) {
      let store = MemoryStore(capacity: 100_000)
      // The session of each account, and the state of the server, which a group invalidation changes.
      var (sessions, state) = ([0, 0], 0)
      var flights: [(account: Int, session: Int, state: Int, generation: UInt64)] = []
      for _ in 0..<40 {
        let account = Int.random(in: 0...1, using: &generator)
        let key = CacheKey(
          target: KeyedDigest(first: 1, second: 0), account: UInt64(account), session: KeyedDigest(first: 0, second: 0))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0, 1: flights.append((account, sessions[account], state, store.begin()))
        case 2:
          guard let flight = flights.indices.randomElement(using: &generator).map({ flights.remove(at: $0) }) else {
            break
          }
          let flightKey = CacheKey(target: key.target, account: UInt64(flight.account), session: key.session)
          var update = update("ETag: \"a\"", sentAt: flight.generation, groups: ["g"])
          update.outdated = Set(store.entries(for: flightKey).responses.map(\.id))
          let text = "\(flight.account) \(flight.session) \(flight.state)"
          _ = store.apply(update, content: Data(text.utf8), under: flightKey, at: CacheWorld.origin)
          store.end()
        case 3:
          sessions[account] += 1
          store.remove(account: UInt64(account))
        default:
          state += 1
          store.invalidate(CacheInvalidation(CacheWorld.origin, groups: ["g"]))
        }
        let entries = store.entries(for: key)
        for response in entries.responses {
          let words = String(decoding: entries.content(of: response.id) ?? Data(), as: UTF8.self).split(separator: " ")
          #expect(words[0] == "\(account)" && words[1] == "\(sessions[account])")
          #expect(response.isInvalidated == (words[2] != "\(state)"))
        }
      }
    }
  }

  @Test("Calls of many threads leave a consistent store")
  func threads() async {
    let store = MemoryStore(capacity: 50_000)
    let updates = (0..<8).map { number in update("ETag: \"\(number)\"", groups: ["g"]) }
    let keys = (0..<5).map { key("/\($0)", account: UInt64($0 % 2)) }
    await withTaskGroup(of: Void.self) { group in
      for (number, update) in updates.enumerated() {
        group.addTask {
          for round in 0..<200 {
            let key = keys[(round + number) % keys.count]
            _ = store.begin()
            _ = store.apply(update, content: Data(count: 500), under: key, at: CacheWorld.origin)
            for response in store.entries(for: key).responses { store.used(response.id) }
            store.end()
            if round % 50 == number { store.remove(account: UInt64(number % 2)) }
          }
        }
      }
    }
    #expect(store.usage <= 50_000)
    store.removeAll()
    #expect(store.usage == 0 && store.isEmpty)
  }
}

extension MemoryStore {
  @discardableResult
  fileprivate func apply(_ update: CacheUpdate, under key: CacheKey) -> Bool {
    apply(update, content: nil, under: key, at: CacheWorld.origin)
  }
}
