import Testing

@testable import ApusCore

@Suite("Address policy")
struct AddressPolicyTests {
  private func bytes(_ text: String) throws -> [UInt8] {
    if !text.contains(":") { return text.split(separator: ".").compactMap { UInt8($0) } }
    // Parses the part of RFC 4291 §2.2 that these tests use: one `::`, groups of 16 bits.
    let halves = text.split(separator: "::", omittingEmptySubsequences: false).map { half in
      half.split(separator: ":").flatMap { group -> [UInt8] in
        let value = UInt16(group, radix: 16) ?? 0
        return [UInt8(value >> 8), UInt8(value & 0xFF)]
      }
    }
    guard halves.count == 2 else { return halves[0] }
    return halves[0] + [UInt8](repeating: 0, count: 16 - halves[0].count - halves[1].count) + halves[1]
  }

  @Test(
    "The first and last address of each block that is not public are refused",
    arguments: [
      "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
      "127.255.255.255", "168.63.129.16", "169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0",
      "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255",
      "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1",
      "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:7f00:1", "::ffff:a00:1", "::ffff:a9fe:a9fe",
      "64:ff9b::7f00:1",
      "64:ff9b:1::1", "100::1", "1fff::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::", "3fff::1",
      "3fff:fff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    ])
  func refused(address: String) throws {
    let bytes = try bytes(address)
    #expect(bytes.count == 4 || bytes.count == 16)
    #expect(!AddressPolicy.publicOnly.allows(bytes))
    #expect(AddressPolicy.any.allows(bytes))
  }

  @Test(
    "The public addresses next to each block that is not public are permitted",
    arguments: [
      "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
      "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
      "192.0.3.0", "192.88.98.255", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
      "::ffff:808:808", "64:ff9b::808:808", "2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1",
      "2606:4700::1111", "3fff:1000::1", "3ffe::1",
    ])
  func allowed(address: String) throws {
    #expect(AddressPolicy.publicOnly.allows(try bytes(address)))
  }

  @Test("Anything that is not an IP address is refused", arguments: [0, 3, 5, 15, 17])
  func other(count: Int) {
    #expect(!AddressPolicy.publicOnly.allows([UInt8](repeating: 8, count: count)))
  }
}
