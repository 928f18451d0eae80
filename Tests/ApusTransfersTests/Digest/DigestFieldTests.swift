import Foundation
import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("Digest fields")
struct DigestFieldTests {
  private static let bytes = [UInt8](repeating: 7, count: 32)
  private static let text = Data(bytes).base64EncodedString()

  @Test(
    "Byte sequences of known algorithms are read, and other members are skipped",
    arguments: [
      "sha-256=:\(text):", "sha-256=:\(text):;a;b=2", "  sha-256=:\(text):", "md5=:AAAA:,sha-256=:\(text):",
      #"unknown="a, \" sha-256=:AAAA:", sha-256=:"# + text + ":", "list=(1 2;a \"x\" :AAAA:);q=1,\tsha-256=:\(text):",
      "flag, other=?0;p, date=@1659578233, sha-256=:\(text):", "sha-256=:AAAA:, sha-256=:\(text):",
      #"name=%"f%c3%bc", number=-1.5, sha-256=:"# + text + ":",
    ])
  func known(_ value: String) {
    #expect(DigestField.digests(in: value) == [FileDigest(.sha256, Self.bytes)].compactMap(\.self))
  }

  @Test(
    "A field that is not a dictionary, or a digest of another length, is ignored",
    arguments: [
      "", "sha-256", "sha-256=", "sha-256=:\(text)", "sha-256=\(text)", "sha-256=:\(text):,", "sha-256=:\(text): x",
      "SHA-256=:\(text):", "sha-256=:AAAA:", "sha-512=:\(text):", "sha-256=:\(text):, bad=\"", "sha-256=:\(text):;A",
      "sha-256=:\(text):, =1", "a=(1 2, sha-256=:\(text):", "sha-256=:\(text):, sha-256=1", "sha-256=:*:",
      "a=\"\\", String(repeating: "a, ", count: 2000) + "sha-256=:\(text):",
    ])
  func malformed(_ value: String) {
    #expect(DigestField.digests(in: value).isEmpty)
  }

  @Test("Several lines of a field form one dictionary")
  func lines() throws {
    let name = try #require(HTTPField.Name("Repr-Digest"))
    var fields = HTTPFields()
    fields.append(HTTPField(name: name, value: "sha-512=:\(Data(repeating: 1, count: 64).base64EncodedString()):"))
    fields.append(HTTPField(name: name, value: "sha-256=:\(Self.text):"))
    #expect(DigestField.representation.digests(in: fields).map(\.algorithm) == [.sha256, .sha512])
    #expect(DigestField.content.digests(in: fields).isEmpty)
  }

  @Test("A digest is read from hexadecimal digits of any case and from Base64")
  func published() throws {
    let digits = String(repeating: "07", count: 32)
    for text in [digits, Self.text] { #expect(try FileDigest(.sha256, text).bytes == Self.bytes) }
    #expect(try FileDigest(.sha256, String(repeating: "aB", count: 32)).bytes.first == 0xAB)
    for text in ["", "07", String(repeating: "0g", count: 32), Self.text + "=", Self.text.dropLast() + "!"] {
      #expect(throws: TransferError.self) { try FileDigest(.sha256, String(text)) }
    }
    #expect(throws: TransferError.self) { try FileDigest(.sha512, digits) }
  }

  @Test("A digest matches only the bytes from which it was computed")
  func matches() throws {
    let digest = try #require(FileDigest(.sha256, Self.bytes))
    #expect(digest.matches(Self.bytes))
    for index in [0, 31] {
      var other = Self.bytes
      other[index] ^= 1
      #expect(!digest.matches(other))
    }
    #expect(!digest.matches([]) && !digest.matches(Self.bytes + [7]))
  }
}
