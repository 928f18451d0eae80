import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The algorithm of a checksum with which a server verifies content (body).
public enum ChecksumAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// CRC-32.
  case crc32 = "CRC32"
  /// CRC-32C.
  case crc32c = "CRC32C"
  /// CRC-64/NVME.
  case crc64nvme = "CRC64NVME"
  /// SHA-1.
  case sha1 = "SHA1"
  /// SHA-256.
  case sha256 = "SHA256"

  /// The name of the field (header) or trailer field, in lower case: `x-amz-checksum-crc32c`.
  package var fieldName: String { "x-amz-checksum-\(rawValue.lowercased())" }

  /// The number of bytes of a checksum.
  var length: Int {
    switch self {
    case .crc32, .crc32c: 4
    case .crc64nvme: 8
    case .sha1: 20
    case .sha256: 32
    }
  }

  /// The number of characters of a checksum in Base64.
  var textLength: Int { (length + 2) / 3 * 4 }
}

/// A checksum of consecutive bytes.
struct Checksum: Sendable {
  private enum State: Sendable {
    case short(CRC<UInt32>)
    case long(CRC<UInt64>)
    case sha1(Insecure.SHA1)
    case sha256(SHA256)
  }

  private var state: State

  init(_ algorithm: ChecksumAlgorithm) {
    state =
      switch algorithm {
      case .crc32: .short(CRC(.crc32))
      case .crc32c: .short(CRC(.crc32c))
      case .crc64nvme: .long(CRC(.crc64nvme))
      case .sha1: .sha1(Insecure.SHA1())
      case .sha256: .sha256(SHA256())
      }
  }

  mutating func update(_ data: Data) {
    switch state {
    case .short(var check):
      check.update(data)
      state = .short(check)
    case .long(var check):
      check.update(data)
      state = .long(check)
    case .sha1(var hash):
      hash.update(data: data)
      state = .sha1(hash)
    case .sha256(var hash):
      hash.update(data: data)
      state = .sha256(hash)
    }
  }

  /// The checksum of the bytes so far, most significant byte first.
  var bytes: Data {
    switch state {
    case .short(let check): Self.bytes(of: check.value)
    case .long(let check): Self.bytes(of: check.value)
    case .sha1(let hash): Data(hash.finalize())
    case .sha256(let hash): Data(hash.finalize())
    }
  }

  /// The checksum in Base64, as in fields.
  var text: String { bytes.base64EncodedString() }

  private static func bytes(of value: some FixedWidthInteger) -> Data {
    withUnsafeBytes(of: value.bigEndian) { Data($0) }
  }
}
