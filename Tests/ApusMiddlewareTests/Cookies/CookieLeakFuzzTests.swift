import ApusCore
import ApusTesting
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Cookies: random input")
struct CookieLeakFuzzTests {
  private static let own = "api.shop.example.co.uk"
  private static let trusted = ["files.shop.example.co.uk", "shop.example.co.uk", "partner.example.com"]
  /// Hosts that the jar does not serve: relatives, look-alikes, hosts of suffixes, addresses.
  private static let foreign = [
    "co.uk", "uk", "com", "example.co.uk", "www.shop.example.co.uk", "a.api.shop.example.co.uk", "evil.co.uk",
    "evilshop.example.co.uk", "xapi.shop.example.co.uk", "example.com", "evil.com", "www.partner.example.com",
    "api.shop.example.co.uk.evil.com", "api.shop.example.co.uk.", "localhost", "127.0.0.1", "[::1]", "uk.example",
  ]

  private static let hosts = CookieHosts(
    own: Origin(scheme: "https", host: own, port: 443),
    trusted: Set(trusted.map { Origin(scheme: "https", host: $0, port: 443) }))

  /// Returns the value of a random `Domain`: usually related to a host of the jar, sometimes any bytes.
  private func domain(_ random: inout SeededGenerator) -> [UInt8] {
    let hosts = [Self.own] + Self.trusted + Self.foreign
    var bytes = Array((hosts.randomElement(using: &random) ?? "").utf8)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let index = Int.random(in: 0...bytes.count, using: &random)
      switch UInt8.random(in: 0...8, using: &random) {
      case 0: bytes.insert(UInt8(ascii: "."), at: 0)
      case 1: bytes.append(UInt8(ascii: "."))
      case 2: bytes.insert(UInt8(ascii: "."), at: index)
      case 3: if let dot = bytes.firstIndex(of: UInt8(ascii: ".")) { bytes = Array(bytes[(dot + 1)...]) }
      case 4: bytes = bytes.map { Bool.random(using: &random) && $0.isLetter ? $0 & 0xDF : $0 }
      case 5: bytes = Array(bytes.dropFirst(index))
      case 6: bytes.insert(contentsOf: Array("evil.".utf8), at: 0)
      case 7: bytes.insert("\t \"*%,:@/[]=0\u{7F}".utf8.randomElement(using: &random) ?? 0, at: index)
      default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
      }
    }
    return bytes
  }

  private func sends(_ state: inout CookieState, to host: String) -> Bool {
    guard let origin = Origin(scheme: "https", authority: host),
      let target = CookieTarget(origin, target: "/", among: Self.hosts)
    else { return false }
    return !state.cookies(for: target, at: 0).isEmpty
  }

  @Test("Of 10,000 random Domain attributes none takes a cookie to a foreign host", arguments: 0..<10 as Range<UInt64>)
  func domains(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var (wide, hostOnly, ignored) = (0, 0, 0)
    for round in 0..<max(1000, fuzzRounds(usually: 1000)) {
      let domain = domain(&random)
      let host = ([Self.own] + Self.trusted).randomElement(using: &random) ?? Self.own
      let target = try #require(
        CookieTarget(Origin(scheme: "https", host: host, port: 443), target: "/", among: Self.hosts))
      var state = CookieState(number: 1)
      let field = Array("a=b; Domain=".utf8) + domain + Array("; Path=/".utf8)
      let outcome = state.store(field, from: target, sentWith: 1, at: 0)
      let place: Comment = "seed \(seed), round \(round): \(String(decoding: domain, as: UTF8.self)) from \(host)"
      let leaks = Self.foreign.filter { sends(&state, to: $0) }
      #expect(leaks.isEmpty, place)
      let receivers = ([Self.own] + Self.trusted).filter { sends(&state, to: $0) }
      #expect(receivers.contains(host) == (outcome == .stored), place)
      for receiver in receivers where receiver != host {
        // Both hosts are names below the attribute, which has two labels or more.
        let name = String(decoding: domain.prefix { $0 != UInt8(ascii: ";") }.trimmed, as: UTF8.self).lowercased()
        let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
        #expect(bare.contains(".") && ".\(host)".hasSuffix(".\(bare)") && ".\(receiver)".hasSuffix(".\(bare)"), place)
      }
      switch receivers.count {
      case 0: ignored += 1
      case 1: hostOnly += 1
      default: wide += 1
      }
    }
    #expect(min(wide, hostOnly, ignored) > 20)
  }

  @Test("A response of a foreign host sets no cookie")
  func foreignResponses() throws {
    for host in Self.foreign {
      let origin = try #require(Origin(scheme: "https", authority: host))
      #expect(CookieTarget(origin, target: "/", among: Self.hosts) == nil)
    }
  }

  private static let seeds = [
    "a=b; Path=/; Domain=.example.com; Max-Age=10; Secure; HttpOnly; SameSite=Lax",
    "__Host-session=\"x y\"; path=/; secure; expires=Sun, 06 Nov 1994 08:49:37 GMT", "value", "=;=;=",
    "a=b;;; max-age=-1",
  ].map { Array($0.utf8) }

  /// Returns random bytes, or a valid field with a few mistakes.
  private func field(_ random: inout SeededGenerator) -> [UInt8] {
    if random.next() % 4 == 0 {
      return (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var bytes = Self.seeds.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch UInt8.random(in: 0...3, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0x20...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert("=; \t,\".-_/:0aA".utf8.randomElement(using: &random) ?? 0, at: index)
      default: bytes = Array(bytes.prefix(index))
      }
    }
    return bytes
  }

  @Test(
    "Random fields are parsed, and what is sent back is a pair without delimiters", arguments: 0..<8 as Range<UInt64>)
  func fields(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let target = CookieTarget(host: "api.example.com", path: Array("/a".utf8), isSecure: true)
    for _ in 0..<fuzzRounds(usually: 1000) {
      let field = field(&random)
      var state = CookieState(number: 1)
      guard state.store(field, from: target, sentWith: 1, at: 0) == .stored else { continue }
      let cookie = try #require(state.all.first)
      #expect(cookie.key.name.count + cookie.value.count <= SetCookie.maximumLength)
      #expect(cookie.expiry.map { $0 > 0 && $0 <= SetCookie.maximumLifetime } ?? true)
      #expect(CookieDomain.covers(cookie.key.domain, host: "api.example.com"))
      let sent = try #require([cookie].fieldValue)
      #expect(
        !sent.isEmpty && !sent.contains(UInt8(ascii: ";")) && !sent.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F })
      guard !cookie.key.name.isEmpty else { continue }
      // The pair that is sent back means the same cookie.
      let again = try #require(SetCookie(sent))
      #expect(again.name == cookie.key.name && again.value == cookie.value)
    }
  }

  @Test(
    "Random dates are parsed to a time between the years 1601 and 9999, or not at all",
    arguments: 20..<24 as Range<UInt64>)
  func dates(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let words = [
      "Sun,", "06", "6", "Nov", "november", "1994", "94", "08:49:37", "8:4:7", "GMT", "-", "99999", ":", "0", "Feb",
      "31",
    ]
    for _ in 0..<fuzzRounds(usually: 1000) {
      let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
        .joined(separator: [" ", "-", ", "].randomElement(using: &random) ?? " ")
      if let date = CookieDate.parse(text.utf8) {
        #expect((-11_644_473_600...253_402_300_799).contains(date), "\(text)")
      }
    }
  }
}
