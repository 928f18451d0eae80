#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The cryptographic digest of a complete file.
///
/// ```swift
/// var options = DownloadOptions()
/// options.digest = try FileDigest(.sha256, published)    // hexadecimal or Base64
/// ```
public struct FileDigest: Sendable, Hashable {
  /// The algorithms, named as in RFC 9530 §5.
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// SHA-256, 32 bytes.
    case sha256 = "sha-256"
    /// SHA-512, 64 bytes.
    case sha512 = "sha-512"

    /// The number of bytes of a digest.
    var length: Int { self == .sha256 ? 32 : 64 }
  }

  /// The algorithm.
  public let algorithm: Algorithm
  /// The digest.
  public let bytes: [UInt8]

  /// Creates a digest from published text.
  ///
  /// - Parameters:
  ///   - algorithm: the algorithm.
  ///   - text: the digest in hexadecimal digits or in Base64.
  /// - Throws: ``TransferError`` with the reason `invalidRequest` if the text has neither form, or another length.
  public init(_ algorithm: Algorithm, _ text: String) throws(TransferError) {
    let bytes: [UInt8]? =
      switch text.utf8.count {
      case algorithm.length * 2: Hexadecimal.bytes(of: text)
      case (algorithm.length + 2) / 3 * 4: Data(base64Encoded: text).map { [UInt8]($0) }
      default: nil
      }
    guard let digest = bytes.flatMap({ FileDigest(algorithm, $0) }) else { throw TransferError(.invalidDigest) }
    self = digest
  }

  init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
    guard bytes.count == algorithm.length else { return nil }
    (self.algorithm, self.bytes) = (algorithm, bytes)
  }

  /// The digest as a member of a dictionary field, such as `sha-256=:…:` (RFC 9530 §2).
  var member: String { "\(algorithm.rawValue)=:\(Data(bytes).base64EncodedString()):" }

  /// Whether the digest has these bytes. The comparison takes the same time wherever the bytes differ.
  func matches(_ other: [UInt8]) -> Bool {
    guard bytes.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in bytes.indices { difference |= bytes[index] ^ other[index] }
    return difference == 0
  }
}
