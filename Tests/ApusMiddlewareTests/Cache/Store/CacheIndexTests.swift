import ApusTesting
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("The index of a cache")
struct CacheIndexTests {
  private static func key(_ target: UInt64, account: UInt64? = nil, session: UInt64 = 0) -> CacheKey {
    CacheKey(
      target: KeyedDigest(first: target, second: 7), account: account, session: KeyedDigest(first: 9, second: session))
  }

  private func payloads(_ index: CacheIndex<String>, _ key: CacheKey) -> Set<String> {
    var payloads: Set<String> = []
    index.forEach(under: key) { payloads.insert($1) }
    return payloads
  }

  @Test("A key finds its entries and no others")
  func lookup() {
    var index = CacheIndex<String>(capacity: 1000)
    let keys = [
      Self.key(1), Self.key(2), Self.key(1, account: 0), Self.key(1, account: 1), Self.key(1, session: 1),
      // The same numbers of the lists of keys and of targets, but other digests.
      CacheKey(target: KeyedDigest(first: 1, second: 8), account: nil, session: KeyedDigest(first: 9, second: 0)),
      CacheKey(target: KeyedDigest(first: 1, second: 7), account: nil, session: KeyedDigest(first: 10, second: 0)),
    ]
    for (number, key) in keys.enumerated() {
      index.insert(key, size: 10) { _ in "\(number)" }
      index.insert(key, size: 10) { _ in "\(number) variant" }
    }
    for (number, key) in keys.enumerated() { #expect(payloads(index, key) == ["\(number)", "\(number) variant"]) }
    #expect(payloads(index, Self.key(3)).isEmpty && index.count == 14 && index.usage == 140)
    let removed = index.removeAll(ofTarget: keys[0].target)
    #expect(Set(removed.map(\.key)) == Set(keys[0...4].filter { $0.target.first == 1 } + [keys[6]]))
    #expect(payloads(index, keys[5]) == ["5", "5 variant"] && payloads(index, keys[1]) == ["1", "1 variant"])
    #expect(index.count == 4 && index.usage == 40)
  }

  @Test("The least recently used entries are removed first")
  func eviction() {
    var index = CacheIndex<String>(capacity: 1000)
    let ids = (0..<8).map { number in index.insert(Self.key(UInt64(number)), size: 100) { _ in "\(number)" } }
    for used in [0, 7, 2, 2] { index.use(ids[used]) }
    #expect(index.evict(to: 800).isEmpty)
    #expect(index.evict(to: 450).map(\.payload) == ["1", "3", "4", "5"])
    index.insert(Self.key(9), size: 100) { _ in "9" }
    #expect(index.evict(to: 0).map(\.payload) == ["6", "0", "7", "2", "9"])
    #expect(index.usage == 0 && index.count == 0)
  }

  @Test("Entries that are inserted with the time of their last use are ordered by it")
  func lastUse() {
    var index = CacheIndex<String>(capacity: 1000)
    for (name, time) in [("b", 20), ("a", 10), ("d", 40), ("c", 30)] as [(String, Int64)] {
      index.insert(Self.key(1), size: 10, lastUse: time) { _ in name }
    }
    #expect(index.evict(to: 0).map(\.payload) == ["a", "b", "c", "d"])
  }

  @Test("The largest size of an entry is an eighth of the capacity, and 16 MiB")
  func entryLimit() {
    #expect(CacheIndex<String>(capacity: 800).entryLimit == 100)
    #expect(CacheIndex<String>(capacity: 1 << 40).entryLimit == 16 << 20)
  }

  @Test("Ids are unique, also after entries were removed")
  func ids() {
    var index = CacheIndex<String>(capacity: 1000)
    var ids: [UInt64] = []
    for round in 0..<20 {
      let id = index.insert(Self.key(1), size: 1) { _ in "\(round)" }
      ids.append(id)
      if round.isMultiple(of: 3) { index.remove(id) }
      if round == 10 { index.removeAll() }
    }
    #expect(Set(ids).count == 20 && ids == ids.sorted())
    for id in ids[...10] { #expect(index[id] == nil) }
    let unknown = index.remove(ids[0])
    index.use(ids[0])
    index.update(ids[0]) { $0 = "x" }
    #expect(unknown == nil && index[ids[11]]?.payload == "11")
  }

  @Test("A key has at most 32 variants; the oldest is removed")
  func variants() {
    var index = CacheIndex<Int>(capacity: 10_000)
    var evicted: [Int] = []
    for number in 0..<40 {
      index.insert(Self.key(1), size: 1) { _ in number }
      index.insert(Self.key(2), size: 1) { _ in number }
      if let variant = index.evictVariant(of: Self.key(1)) { evicted.append(variant.payload) }
    }
    #expect(evicted == Array(0..<8) && index.count == 72)
  }

  @Test("A changed entry counts with its new size")
  func update() {
    var index = CacheIndex<String>(capacity: 1000)
    let id = index.insert(Self.key(1), size: 10) { "\($0)" }
    #expect(index[id]?.payload == "\(id)")
    index.update(id, size: 30) { $0 += "!" }
    #expect(index[id]?.payload == "\(id)!" && index.usage == 30)
    index.update(id) { $0 = "" }
    #expect(index.usage == 30 && index.remove(id)?.size == 30 && index.usage == 0)
  }
}

@Suite("The index of a cache: random changes beside a model")
struct CacheIndexFuzzTests {
  private struct Model {
    struct Entry {
      let id: UInt64
      let key: CacheKey
      var size: Int64
      var payload: Int
      var lastUse: Int
    }

    var entries: [Entry] = []
    var time = 0

    mutating func remove(where condition: (Entry) -> Bool) -> Set<UInt64> {
      let removed = Set(entries.filter(condition).map(\.id))
      entries.removeAll(where: condition)
      return removed
    }

    mutating func evict(to limit: Int64) -> [UInt64] {
      var evicted: [UInt64] = []
      while entries.reduce(0, { $0 + $1.size }) > limit, let oldest = entries.min(by: { $0.lastUse < $1.lastUse }) {
        evicted.append(oldest.id)
        entries.removeAll { $0.id == oldest.id }
      }
      return evicted
    }
  }

  private struct Run {
    var index = CacheIndex<Int>(capacity: 800)
    var model = Model()
    var generator: SeededGenerator

    mutating func number(_ limit: UInt64) -> UInt64 { .random(in: 0..<limit, using: &generator) }

    mutating func key() -> CacheKey {
      let account: UInt64? = number(3) == 0 ? nil : number(3)
      return CacheKey(
        target: KeyedDigest(first: number(3), second: number(2)), account: account,
        session: KeyedDigest(first: 0, second: number(2)))
    }

    mutating func id() -> UInt64 {
      number(10) == 0 ? number(.max) : model.entries.randomElement(using: &generator)?.id ?? 0
    }

    mutating func step() {
      model.time += 1
      switch number(10) {
      case 0..<4: insert()
      case 4: use()
      case 5: update()
      case 6:
        let id = id()
        #expect((index.remove(id) != nil) == !model.remove { $0.id == id }.isEmpty)
      case 7:
        let target = key().target
        #expect(Set(index.removeAll(ofTarget: target).map(\.id)) == model.remove { $0.key.target == target })
      case 8 where number(5) == 0:
        let account = key().account
        #expect(
          Set(index.removeAll { $0.account == account }.map(\.id)) == model.remove { $0.key.account == account })
      case 9 where number(20) == 0:
        index.removeAll()
        model.entries = []
      default:
        let limit = Int64(number(800))
        #expect(index.evict(to: limit).map(\.id) == model.evict(to: limit))
      }
    }

    private mutating func insert() {
      let (key, size, payload) = (key(), Int64(number(120)), Int(number(1000)))
      let id = index.insert(key, size: size) { _ in payload }
      #expect(!model.entries.contains { $0.id == id })
      model.entries.append(.init(id: id, key: key, size: size, payload: payload, lastUse: model.time))
    }

    private mutating func use() {
      let id = id()
      index.use(id)
      for position in model.entries.indices where model.entries[position].id == id {
        model.entries[position].lastUse = model.time
      }
    }

    private mutating func update() {
      let (id, size, payload) = (id(), Int64(number(100)), Int(number(1000)))
      index.update(id, size: size) { $0 = payload }
      for position in model.entries.indices where model.entries[position].id == id {
        (model.entries[position].size, model.entries[position].payload) = (size, payload)
      }
    }

    func check() {
      #expect(index.count == model.entries.count && index.usage == model.entries.reduce(0) { $0 + $1.size })
      for entry in model.entries {
        #expect(index[entry.id]?.payload == entry.payload && index[entry.id]?.size == entry.size)
        var found: Set<UInt64> = []
        index.forEach(under: entry.key) { id, _ in found.insert(id) }
        #expect(found == Set(model.entries.filter { $0.key == entry.key }.map(\.id)))
      }
    }
  }

  @Test("Entries, usage and the order of eviction are those of the model", arguments: 0..<20)
  func model(seed: UInt64) {
    var run = Run(generator: SeededGenerator(seed: seed))
    for _ in 0..<fuzzRounds(usually: 300) {
      run.step()
      run.check()
    }
  }
}
