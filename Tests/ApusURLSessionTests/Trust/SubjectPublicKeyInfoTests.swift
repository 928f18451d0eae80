import Foundation
import Testing

@testable import ApusURLSession

@Suite("Subject public key info")
struct SubjectPublicKeyInfoTests {
  @Test(
    "The subject public key info is returned exactly as encoded in the certificate", arguments: SampleCertificates.all)
  func keys(sample: SampleCertificates.Sample) throws {
    let certificate = try #require(Data(base64Encoded: sample.certificate))
    let key = try #require(SubjectPublicKeyInfo.bytes(ofCertificate: certificate))
    #expect(key.base64EncodedString() == sample.key)
  }

  @Test("The subject public key info of a slice equals that of the whole data")
  func slices() throws {
    let certificate = try #require(Data(base64Encoded: SampleCertificates.ec))
    let slice = (Data([1, 2, 3]) + certificate).dropFirst(3)
    #expect(SubjectPublicKeyInfo.bytes(ofCertificate: slice)?.base64EncodedString() == SampleCertificates.ecKey)
  }

  @Test("A certificate truncated before the end of its key returns nil")
  func truncated() throws {
    let certificate = try #require(Data(base64Encoded: SampleCertificates.rsa))
    for length in certificate.indices {
      #expect(SubjectPublicKeyInfo.bytes(ofCertificate: certificate.prefix(length)) == nil, "\(length) bytes")
    }
  }

  @Test(
    "Data that is not a certificate returns nil",
    arguments: [
      [], [0x30], [0x30, 0x80], [0x30, 0x85, 1, 1, 1, 1, 1], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x30, 0x02, 0x30, 0x00], [0x04, 0x00], [0x30, 0x04, 0x30, 0x02, 0x02, 0x7F],
    ] as [[UInt8]])
  func garbage(bytes: [UInt8]) {
    #expect(SubjectPublicKeyInfo.bytes(ofCertificate: Data(bytes)) == nil)
  }

  @Test("A certificate with one altered byte does not trap")
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
