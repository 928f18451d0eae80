#if AWS && Transfers
import ApusCore
import Crypto
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The algorithm of the checksum with which a server verifies an object.
public enum S3Checksum: String, Sendable, Hashable, CaseIterable {
  /// CRC-64/NVME, which covers the whole object also if it was uploaded in parts. The fastest one.
  case crc64nvme = "CRC64NVME"
  /// CRC-32C.
  case crc32c = "CRC32C"
  /// SHA-256.
  case sha256 = "SHA256"

  /// The name of the field (header), in lower case.
  var fieldName: String { "x-amz-checksum-\(rawValue.lowercased())" }
  /// The name of the element in documents.
  var elementName: String { "Checksum\(rawValue)" }

  /// The checksum of a complete object in the fields of a response. `nil` if there is none that can be compared: that
  /// of an object in parts may be a checksum of checksums.
  static func stated(in fields: HTTPFields) -> (algorithm: S3Checksum, value: String)? {
    for algorithm in allCases {
      guard let name = HTTPField.Name(algorithm.fieldName), let value = fields[name], !value.contains("-") else {
        continue
      }
      if let type = HTTPField.Name("x-amz-checksum-type"), fields[type]?.uppercased() == "COMPOSITE" { continue }
      return (algorithm, value)
    }
    return nil
  }
}

/// The computation of a checksum over consecutive bytes.
struct S3ChecksumStream: Sendable {
  private enum State: Sendable {
    case crc64(CRC64NVME)
    case crc32(CRC32C)
    case sha256(SHA256)
  }

  private var state: State

  init(_ algorithm: S3Checksum) {
    state =
      switch algorithm {
      case .crc64nvme: .crc64(CRC64NVME())
      case .crc32c: .crc32(CRC32C())
      case .sha256: .sha256(SHA256())
      }
  }

  mutating func update(_ data: Data) {
    switch state {
    case .crc64(var crc):
      crc.update(data)
      state = .crc64(crc)
    case .crc32(var crc):
      crc.update(data)
      state = .crc32(crc)
    case .sha256(var hash):
      hash.update(data: data)
      state = .sha256(hash)
    }
  }

  /// The checksum in Base64, as fields have it.
  var value: String {
    switch state {
    case .crc64(let crc): crc.value.bigEndianBytes.base64EncodedString()
    case .crc32(let crc): crc.value.bigEndianBytes.base64EncodedString()
    case .sha256(let hash): Data(hash.finalize()).base64EncodedString()
    }
  }
}

extension FixedWidthInteger {
  fileprivate var bigEndianBytes: Data {
    Data(stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) })
  }
}
#endif
