import ApusTesting
import TestSupport
import Testing

@testable import ApusMiddleware

/// A second, simple implementation of the jar: a list of cookies in order of creation, and one rule after another.
private struct CookieOracle {
  /// A cookie as a server means it.
  struct Setting {
    var name: String
    var value: String
    var domain: String?
    var path: String?
    /// The lifetime in seconds; `nil`: a session cookie.
    var age: Int64?
    var isSecure = false

    var field: String {
      var parts = ["\(name)=\(value)"]
      if let domain { parts.append("Domain=\(domain)") }
      if let path { parts.append("Path=\(path)") }
      if let age { parts.append("Max-Age=\(age)") }
      if isSecure { parts.append("Secure") }
      return parts.joined(separator: "; ")
    }
  }

  struct Entry {
    let name: String
    let value: String
    let domain: String
    let isHostOnly: Bool
    let path: String
    let end: Int64?
    let isSecure: Bool
    var used: Int
  }

  let limits: CookieState.Limits
  var entries: [Entry] = []
  var now: Int64 = 1_800_000_000
  private var uses = 0

  init(limits: CookieState.Limits) {
    self.limits = limits
  }

  private static func isBelow(_ host: String, _ domain: String) -> Bool {
    host == domain || host.hasSuffix("." + domain) && host.contains { $0.isLetter }
  }

  private static func isInside(_ path: String, _ folder: String) -> Bool {
    path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
  }

  /// Returns whether the cookie is stored, `nil` if it is ignored.
  mutating func set(_ setting: Setting, host: String, path: String, isSecure: Bool) -> Bool? {
    entries.removeAll { $0.end.map { $0 <= now } ?? false }
    var domain = host
    var isHostOnly = true
    if let wide = setting.domain {
      guard Self.isBelow(host, wide) else { return nil }
      if wide.contains("."), wide.contains(where: \.isLetter) { (domain, isHostOnly) = (wide, false) }
    }
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let cookiePath = setting.path ?? (folder.isEmpty ? "/" : folder)
    if !isSecure {
      let isHidden = entries.contains {
        $0.isSecure && $0.name == setting.name && Self.isInside(cookiePath, $0.path)
          && (Self.isBelow($0.domain, domain) || Self.isBelow(domain, $0.domain))
      }
      if setting.isSecure || isHidden { return nil }
    }
    let name = setting.name.lowercased()
    if name.hasPrefix("__secure-"), !setting.isSecure { return nil }
    if name.hasPrefix("__host-"), !setting.isSecure || setting.domain != nil || setting.path != "/" { return nil }
    uses += 1
    let entry = Entry(
      name: setting.name, value: setting.value, domain: domain, isHostOnly: isHostOnly, path: cookiePath,
      end: setting.age.map { now + $0 }, isSecure: setting.isSecure, used: uses)
    let isStored = setting.age.map { $0 > 0 } ?? true
    let index = entries.firstIndex {
      $0.name == entry.name && $0.domain == domain && $0.isHostOnly == isHostOnly && $0.path == cookiePath
    }
    if let index { entries.remove(at: index) }
    if isStored {
      entries.insert(entry, at: index ?? entries.count)
      evict(domain)
    }
    return isStored
  }

  private mutating func evict(_ domain: String) {
    while entries.filter({ $0.domain == domain }).count > limits.perDomain {
      let own = entries.indices.filter { entries[$0].domain == domain }
      let open = own.filter { !entries[$0].isSecure }
      removeOldest(of: open.isEmpty ? own : open)
    }
    while entries.count > limits.total { removeOldest(of: Array(entries.indices)) }
  }

  /// Removes the entry that was used first; of entries that were used together, the first in the list.
  private mutating func removeOldest(of indices: [Int]) {
    if let index = indices.min(by: { entries[$0].used < entries[$1].used }) { entries.remove(at: index) }
  }

  mutating func sent(host: String, path: String, isSecure: Bool) -> String {
    entries.removeAll { $0.end.map { $0 <= now } ?? false }
    uses += 1
    var found: [Entry] = []
    for index in entries.indices {
      let entry = entries[index]
      let isCovered = entry.isHostOnly ? entry.domain == host : Self.isBelow(host, entry.domain)
      guard isCovered, Self.isInside(path, entry.path), isSecure || !entry.isSecure else { continue }
      entries[index].used = uses
      found.append(entry)
    }
    let lengths = Set(found.map(\.path.count)).sorted(by: >)
    return lengths.flatMap { length in found.filter { $0.path.count == length } }
      .map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }
}

@Suite("Cookie jar: comparison with a model")
struct CookieModelFuzzTests {
  /// The numbers of events that a run must not miss.
  private struct Events {
    var stored = 0
    var removed = 0
    var refusals: Set<CookieState.Refusal> = []
    var sent = 0
    var full = 0
  }

  private static let hosts = [
    "api.example.com", "www.example.com", "a.api.example.com", "example.com", "example.org", "localhost", "10.0.0.1",
    "[::1]",
  ]
  private static let domains: [String?] = [
    nil, nil, nil, "example.com", "example.com", "api.example.com", "com", "example.org", "localhost", "0.0.1",
    "10.0.0.1",
  ]
  private static let names = ["a", "b", "c", "d", "A", "__Secure-a", "__host-b", "__HOST-c"]
  private static let folders: [String?] = [nil, nil, "/", "/", "/v1", "/v1/", "/v1/users", "/v2"]
  private static let paths = ["/", "/v1", "/v1/", "/v1/users", "/v1/users/7", "/v10", "/v2/x"]

  private func setting(_ number: Int, _ random: inout SeededGenerator) -> CookieOracle.Setting {
    var setting = CookieOracle.Setting(name: pick(Self.names, &random), value: "\(number)")
    setting.domain = pick(Self.domains, &random)
    setting.path = pick(Self.folders, &random)
    setting.age = pick([nil, nil, 0, -1, 1, 5, 20, 100], &random)
    setting.isSecure = random.next() % 3 == 0
    return setting
  }

  private func pick<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
    values[Int(random.next() % UInt64(values.count))]
  }

  private func run(_ seed: UInt64, steps: Int) -> Events {
    var random = SeededGenerator(seed: seed)
    // In two of three runs the limits are small.
    let limits = [
      CookieState.Limits(), CookieState.Limits(perDomain: 4, total: 12), CookieState.Limits(perDomain: 20, total: 9),
    ][Int(seed % 3)]
    var state = CookieState(number: 1, limits: limits)
    var oracle = CookieOracle(limits: limits)
    var events = Events()
    for step in 0..<steps {
      let place: Comment = "seed \(seed), step \(step)"
      let (host, path, isSecure) = (pick(Self.hosts, &random), pick(Self.paths, &random), random.next() % 3 != 0)
      let target = CookieTarget(host: host, path: Array(path.utf8), isSecure: isSecure)
      switch random.next() % 8 {
      case 0..<4:
        let setting = setting(step, &random)
        let outcome = state.store(Array(setting.field.utf8), from: target, sentWith: state.number, at: oracle.now)
        let expected = oracle.set(setting, host: host, path: path, isSecure: isSecure)
        switch outcome {
        case .stored: #expect(expected == true, place)
        case .removed: #expect(expected == false, place)
        case .ignored(let refusal):
          #expect(expected == nil, place)
          events.refusals.insert(refusal)
        }
        events.stored += outcome == .stored ? 1 : 0
        events.removed += outcome == .removed ? 1 : 0
        events.full += state.count == limits.total ? 1 : 0
      case 4..<7:
        let field = state.cookies(for: target, at: oracle.now).fieldValue ?? []
        let expected = oracle.sent(host: host, path: path, isSecure: isSecure)
        #expect(String(decoding: field, as: UTF8.self) == expected, place)
        events.sent += expected.isEmpty ? 0 : 1
      default:
        oracle.now += Int64(random.next() % 6)
        if random.next() % 100 == 0 {
          state.removeAll(number: state.number + 1)
          oracle.entries = []
        }
      }
      #expect(state.all.count == state.count && state.count <= limits.total, place)
    }
    return events
  }

  @Test("In any order of events CookieState agrees with a simple model", arguments: 0..<30 as Range<UInt64>)
  func interleavings(seed: UInt64) {
    let events = run(seed, steps: max(400, fuzzRounds(usually: 400)))
    #expect(events.stored > 0 && events.removed > 0 && events.sent > 0)
  }

  @Test("Random runs fill the jar, and meet every reason to ignore a cookie of a valid field")
  func variety() {
    let events = (0..<9 as Range<UInt64>).map { run($0, steps: 400) }
    #expect(events.reduce(0) { $0 + $1.full } > 0)
    #expect(events.reduce(into: []) { $0.formUnion($1.refusals) } == [.foreignDomain, .insecure, .prefix])
  }
}
