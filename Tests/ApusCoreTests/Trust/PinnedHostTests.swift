import Foundation
import Testing

@testable import ApusCore

@Suite("Pinned hosts")
struct PinnedHostTests {
  private static let inUse = Data(repeating: 1, count: 32)
  private static let backup = Data(repeating: 2, count: 32)
  private static let other = Data(repeating: 3, count: 32)
  private let now = Date(timeIntervalSince1970: 1_000_000)

  private func pin(_ change: (inout PinnedHost) -> Void = { _ in }) throws -> PinnedHost {
    var pin = try PinnedHost(
      "API.example.com", keys: [Self.inUse.base64EncodedString()], backup: [Self.backup.base64EncodedString()])
    change(&pin)
    return pin
  }

  @Test("Pins accept a chain with the current or the backup key, and no other chain")
  func keys() throws {
    let pins = [try pin()]
    #expect(pins.accepts([Self.other, Self.inUse], from: "api.example.com", at: now))
    #expect(pins.accepts([Self.backup], from: "api.example.com", at: now))
    #expect(!pins.accepts([Self.other], from: "api.example.com", at: now))
    #expect(!pins.accepts([], from: "api.example.com", at: now))
  }

  @Test("Pins do not apply to other hosts")
  func otherHosts() throws {
    let pins = [try pin()]
    for host in ["example.com", "www.api.example.com", "notapi.example.com", "api.example.com.evil.test"] {
      #expect(!pins.covers(host, at: now), "\(host)")
      #expect(pins.accepts([Self.other], from: host, at: now), "\(host)")
    }
    #expect(pins.covers("Api.Example.COM", at: now))
  }

  @Test("Pins can include subdomains, at label boundaries only")
  func subdomains() throws {
    let pins = [try pin { $0.includesSubdomains = true }]
    #expect(pins.covers("eu.api.example.com", at: now))
    #expect(!pins.accepts([Self.other], from: "eu.api.example.com", at: now))
    #expect(!pins.covers("evilapi.example.com", at: now))
  }

  @Test(
    "Pins apply to every spelling of their host",
    arguments: [
      ("api.example.com", "API.Example.com", "api.example.com"),
      ("api.example.com.", "api.example.com", "api.example.com"),
      ("api.example.com", "api.example.com.", "api.example.com"),
      ("API.example.COM.", "api.EXAMPLE.com.", "api.example.com"),
      ("bücher.example", "xn--bcher-kva.example", "xn--bcher-kva.example"),
      ("xn--bcher-kva.example", "BÜCHER.example.", "xn--bcher-kva.example"),
      ("bücher\u{3002}example", "bücher.example", "xn--bcher-kva.example"),
      ("::1", "[::1]", "[::1]"), ("[::1]", "::1", "[::1]"), ("0:0:0:0:0:0:0:1", "[::1]", "[::1]"),
      ("[2001:DB8::A]", "[2001:db8:0:0:0:0:0:a]", "[2001:db8::a]"),
      ("2001:0db8:0:0:1:0:0:1", "[2001:db8::1:0:0:1]", "[2001:db8::1:0:0:1]"),
      ("::", "[0::0]", "[::]"), ("1::", "[1:0:0:0:0:0:0:0]", "[1::]"),
      ("1:2:3:4:5:6:7:8", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"),
      ("127.0.0.1", "127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.1.", "127.0.0.1"),
      ("::ffff:127.0.0.1", "127.0.0.1", "127.0.0.1"), ("127.0.0.1", "[::FFFF:7f00:1]", "127.0.0.1"),
    ] as [(String, String, String)])
  func spelling(pinned: String, dialed: String, host: String) throws {
    let pin = try PinnedHost(
      pinned, keys: [Self.inUse.base64EncodedString()], backup: [Self.backup.base64EncodedString()])
    #expect(pin.host == host)
    #expect([pin].covers(dialed, at: now))
    #expect(![pin].accepts([Self.other], from: dialed, at: now))
    #expect([pin].accepts([Self.inUse], from: dialed, at: now))
  }

  @Test(
    "Pins for invalid hosts are refused with the reason",
    arguments: [
      ("", "the host is empty"), ("*.example.com", "a wildcard is not a host"), ("*", "a wildcard is not a host"),
      ("example.com:443", "at any port"), ("[::1]:443", "at any port"), ("fe80::1%eth0", "at any port"),
      ("https://example.com", "a URL is not a host"), ("example.com/", "a URL is not a host"),
      ("https://user:sentinel@example.com", "a URL is not a host"), ("//example.com", "a URL is not a host"),
      ("user@example.com", "neither a name nor an address"), ("example..com", "neither a name nor an address"),
      (".example.com", "neither a name nor an address"), (".", "neither a name nor an address"),
      ("example.com..", "neither a name nor an address"), (" example.com", "neither a name nor an address"),
      ("example.com\n", "neither a name nor an address"), ("127.1", "neither a name nor an address"),
      ("0x7f.0.0.1", "neither a name nor an address"), ("[::1", "at any port"),
      ("exam%70le.com", "neither a name nor an address"), ("example.com\u{301}", "neither a name nor an address"),
    ] as [(String, String)])
  func impossibleHosts(host: String, reason: String) {
    let error = #expect(throws: PinError.self) {
      try PinnedHost(
        host, keys: [Self.inUse.base64EncodedString()], backup: [Self.backup.base64EncodedString()])
    }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    #expect(error.map { "\($0)".contains("sentinel") } == false)
  }

  @Test("Pins do not apply after their expiry")
  func expiry() throws {
    let pins = [try pin { $0.expiry = now }]
    #expect(pins.covers("api.example.com", at: now.addingTimeInterval(-1)))
    #expect(!pins.covers("api.example.com", at: now))
    #expect(pins.accepts([Self.other], from: "api.example.com", at: now))
  }

  @Test("If several pins apply to a host, all must match")
  func several() throws {
    let second = try PinnedHost(
      "api.example.com", keys: [Self.other.base64EncodedString()], backup: [Self.backup.base64EncodedString()])
    let pins = [try pin(), second]
    #expect(!pins.accepts([Self.inUse], from: "api.example.com", at: now))
    #expect(pins.accepts([Self.inUse, Self.other], from: "api.example.com", at: now))
  }

  @Test(
    "Pins without a backup key, and pins that are not hashes, are refused with the reason",
    arguments: [
      ([inUse.base64EncodedString()], [], "api.test has no backup key"),
      ([inUse.base64EncodedString()], [inUse.base64EncodedString()], "api.test has no backup key"),
      ([], [backup.base64EncodedString()], "no key is pinned for api.test"),
      (["AAAA"], [backup.base64EncodedString()], "a pin is not the Base64 of a SHA-256"),
      ([inUse.base64EncodedString()], ["no base64"], "a pin is not the Base64 of a SHA-256"),
    ] as [([String], [String], String)])
  func refused(keys: [String], backup: [String], reason: String) {
    #expect(throws: PinError(reason: reason)) { try PinnedHost("api.test", keys: keys, backup: backup) }
  }

  @Test("The description of a client identity contains neither its key nor its passphrase")
  func identity() {
    let identity = ClientIdentity(pkcs12: Data("sentinel-container".utf8), passphrase: "sentinel-passphrase")
    var text = "\(identity) \(String(reflecting: identity)) \([identity])"
    dump([identity], to: &text)
    #expect(!text.contains("sentinel"))
    #expect(!text.contains(Data("sentinel-container".utf8).base64EncodedString()))
  }
}
