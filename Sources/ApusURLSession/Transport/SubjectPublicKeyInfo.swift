#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A certificate's subject public key info: the key with its algorithm (RFC 5280 §4.1.2.7). Pins are hashes of it.
enum SubjectPublicKeyInfo {
  /// Returns the key's DER bytes as they are in the certificate.
  ///
  /// - Returns: `nil` if the data is not a certificate.
  static func bytes(ofCertificate der: Data) -> Data? {
    var file = DERReader(der[...])
    guard let certificate = file.next(.sequence) else { return nil }
    var parts = DERReader(certificate.content)
    guard let toBeSigned = parts.next(.sequence) else { return nil }
    var fields = DERReader(toBeSigned.content)
    // Version 1 certificates have no version field.
    fields.skip(.version)
    // Serial number, signature algorithm, issuer, validity, subject.
    for tag in [DERReader.Tag.integer, .sequence, .sequence, .sequence, .sequence] {
      guard fields.next(tag) != nil else { return nil }
    }
    return fields.next(.sequence).map { Data($0.whole) }
  }
}

/// A reader of the part of DER (ITU-T X.690 §8, §10) that certificates need.
struct DERReader {
  enum Tag: UInt8 {
    case integer = 0x02
    case sequence = 0x30
    case version = 0xA0
  }

  private var rest: Data

  init(_ bytes: Data) {
    rest = bytes
  }

  /// Returns the next value: all of its bytes, and the bytes of its content.
  ///
  /// - Returns: `nil` if its tag is not `tag`, or if it does not end within the bytes.
  mutating func next(_ tag: Tag) -> (whole: Data, content: Data)? {
    guard rest.first == tag.rawValue, let (header, length) = Self.extent(of: rest), length <= rest.count - header
    else { return nil }
    let whole = rest.prefix(header + length)
    rest = rest.dropFirst(header + length)
    return (whole, whole.dropFirst(header))
  }

  mutating func skip(_ tag: Tag) {
    _ = next(tag)
  }

  /// Returns the number of bytes of tag and length, and the number of content bytes.
  private static func extent(of bytes: Data) -> (header: Int, length: Int)? {
    guard let first = bytes.dropFirst().first else { return nil }
    guard first >= 0x80 else { return (2, Int(first)) }
    let count = Int(first & 0x7F)
    // Certificates are smaller than 4 GiB; a count of 0 means an indefinite length.
    guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
    return (2 + count, bytes.dropFirst(2).prefix(count).reduce(0) { $0 << 8 | Int($1) })
  }
}
