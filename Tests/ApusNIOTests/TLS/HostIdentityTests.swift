import Testing

@testable import ApusNIO

@Suite("Host identity")
struct HostIdentityTests {
  @Test(
    "A certificate covers its names; a wildcard replaces only the whole first label",
    arguments: [
      ("example.com", "example.com", true), ("EXAMPLE.com", "example.COM", true),
      ("example.com", "example.com.", true),
      ("*.example.com", "www.example.com", true), ("*.example.com", "example.com", false),
      ("*.example.com", "a.b.example.com", false), ("w*.example.com", "www.example.com", false),
      ("*.com", "example.com", false), ("*", "localhost", false), ("www.*.com", "www.example.com", false),
      ("example.com\0.evil.com", "example.com", false), ("", "example.com", false), ("example.com", "", false),
      ("example.com.", "example.com", false), (".example.com", "www.example.com", false),
      ("127.0.0.1", "127.0.0.1", false), ("*.0.0.1", "127.0.0.1", false), ("example..com", "example..com", false),
    ])
  func names(pattern: String, host: String, isCovered: Bool) {
    #expect(HostIdentity.covers(host, names: [.dns(Array(pattern.utf8))]) == isCovered)
  }

  @Test("An address must be listed as an address, and matches no DNS name")
  func addresses() {
    let names: [HostIdentity.Name] = [.address([127, 0, 0, 1]), .address([UInt8](repeating: 0, count: 15) + [1])]
    for (host, isCovered) in [
      ("127.0.0.1", true), ("[::1]", true), ("[0:0:0:0:0:0:0:1]", true), ("127.0.0.2", false), ("localhost", false),
    ] {
      #expect(HostIdentity.covers(host, names: names) == isCovered)
    }
  }
}
