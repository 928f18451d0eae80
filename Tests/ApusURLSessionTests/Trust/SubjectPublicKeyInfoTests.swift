import Foundation
import Testing

@testable import ApusURLSession

@Suite("Subject public key info")
struct SubjectPublicKeyInfoTests {
  @Test("is the key as it stands in the certificate", arguments: SampleCertificates.all)
  func keys(sample: SampleCertificates.Sample) throws {
    let certificate = try #require(Data(base64Encoded: sample.certificate))
    let key = try #require(SubjectPublicKeyInfo.bytes(ofCertificate: certificate))
    #expect(key.base64EncodedString() == sample.key)
  }

  @Test("is the same wherever the bytes lie in memory")
  func slices() throws {
    let certificate = try #require(Data(base64Encoded: SampleCertificates.ec))
    let slice = (Data([1, 2, 3]) + certificate).dropFirst(3)
    #expect(SubjectPublicKeyInfo.bytes(ofCertificate: slice)?.base64EncodedString() == SampleCertificates.ecKey)
  }

  @Test("of a certificate that breaks off anywhere before its key ends is none")
  func truncated() throws {
    let certificate = try #require(Data(base64Encoded: SampleCertificates.rsa))
    for length in certificate.indices {
      #expect(SubjectPublicKeyInfo.bytes(ofCertificate: certificate.prefix(length)) == nil, "\(length) bytes")
    }
  }

  @Test(
    "of what is no certificate is none",
    arguments: [
      [], [0x30], [0x30, 0x80], [0x30, 0x85, 1, 1, 1, 1, 1], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x30, 0x02, 0x30, 0x00], [0x04, 0x00], [0x30, 0x04, 0x30, 0x02, 0x02, 0x7F],
    ] as [[UInt8]])
  func garbage(bytes: [UInt8]) {
    #expect(SubjectPublicKeyInfo.bytes(ofCertificate: Data(bytes)) == nil)
  }

  @Test("is read without a trap from any bytes that one change has spoiled")
  func spoiled() throws {
    let certificate = try #require(Data(base64Encoded: SampleCertificates.ec))
    let key = SampleCertificates.ecKey
    var differing = 0
    for index in certificate.indices {
      for value: UInt8 in [0x00, 0x7F, 0x80, 0x84, 0xFF] {
        var spoiled = certificate
        spoiled[index] = value
        if SubjectPublicKeyInfo.bytes(ofCertificate: spoiled)?.base64EncodedString() != key { differing += 1 }
      }
    }
    #expect(differing > 0)
  }
}
