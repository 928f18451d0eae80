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

  @Test("accept a chain that holds the key in use or the one in reserve, and no other chain")
  func keys() throws {
    let pins = [try pin()]
    #expect(pins.accept([Self.other, Self.inUse], from: "api.example.com", at: now))
    #expect(pins.accept([Self.backup], from: "api.example.com", at: now))
    #expect(!pins.accept([Self.other], from: "api.example.com", at: now))
    #expect(!pins.accept([], from: "api.example.com", at: now))
  }

  @Test("say nothing about hosts that are not theirs")
  func otherHosts() throws {
    let pins = [try pin()]
    for host in ["example.com", "www.api.example.com", "notapi.example.com", "api.example.com.evil.test"] {
      #expect(!pins.cover(host, at: now), "\(host)")
      #expect(pins.accept([Self.other], from: host, at: now), "\(host)")
    }
    #expect(pins.cover("Api.Example.COM", at: now))
  }

  @Test("cover names below the host when they are asked to, at label boundaries only")
  func subdomains() throws {
    let pins = [try pin { $0.includesSubdomains = true }]
    #expect(pins.cover("eu.api.example.com", at: now))
    #expect(!pins.accept([Self.other], from: "eu.api.example.com", at: now))
    #expect(!pins.cover("evilapi.example.com", at: now))
  }

  @Test("do not count from the instant on when they expire")
  func expiry() throws {
    let pins = [try pin { $0.expiry = now }]
    #expect(pins.cover("api.example.com", at: now.addingTimeInterval(-1)))
    #expect(!pins.cover("api.example.com", at: now))
    #expect(pins.accept([Self.other], from: "api.example.com", at: now))
  }

  @Test("of which several are in force must all be satisfied")
  func several() throws {
    let second = try PinnedHost(
      "api.example.com", keys: [Self.other.base64EncodedString()], backup: [Self.backup.base64EncodedString()])
    let pins = [try pin(), second]
    #expect(!pins.accept([Self.inUse], from: "api.example.com", at: now))
    #expect(pins.accept([Self.inUse, Self.other], from: "api.example.com", at: now))
  }

  @Test(
    "that could lock everybody out, or are no hashes, are refused with the reason",
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

  @Test("a client's identity shows neither its key nor its passphrase")
  func identity() {
    let identity = ClientIdentity(pkcs12: Data("sentinel-container".utf8), passphrase: "sentinel-passphrase")
    var text = "\(identity) \(String(reflecting: identity)) \([identity])"
    dump([identity], to: &text)
    #expect(!text.contains("sentinel"))
    #expect(!text.contains(Data("sentinel-container".utf8).base64EncodedString()))
  }
}
