import ApusCore
import ApusTransfers
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The digests of the content (body) of a request. They are computed by reading it before it is sent, once for all
/// attempts of a call.
final class S3ContentDigests: Sendable {
  /// The digests to compute.
  struct Wanted: Hashable, Sendable {
    var checksum: ChecksumAlgorithm?
    /// Whether the SHA-256 digest is needed for the signature.
    var isSigned = false
    var md5 = false
  }

  /// The digests of content.
  struct Values: Hashable, Sendable {
    /// The checksum in Base64.
    var checksum: String?
    /// The digest for the signature: 64 lowercase hexadecimal digits.
    var signed: String?
    /// The digest for `Content-MD5`, in Base64.
    var md5: String?
  }

  private let known = Mutex<(wanted: Wanted, values: Values)?>(nil)

  /// The checksum in Base64, if it was computed.
  var checksum: String? { known.withLock { $0?.values.checksum } }

  /// Returns the digests of content.
  func values(of content: MessageContent, _ wanted: Wanted) async throws -> Values {
    if let known = known.withLock({ $0 }), known.wanted == wanted { return known.values }
    let values = try await Self.compute(content, wanted)
    known.withLock { $0 = (wanted, values) }
    return values
  }

  private static func compute(_ content: MessageContent, _ wanted: Wanted) async throws -> Values {
    guard wanted != Wanted() else { return Values() }
    if case .stream(let stream) = content, let slice = stream.slice {
      return try await slice.reduced(into: Digests(wanted)) { $0.update($1) }.values
    }
    var digests = Digests(wanted)
    let pieces = try await content.makePieces()
    while let piece = try await pieces() { digests.update(piece) }
    return digests.values
  }
}

/// Digests of consecutive bytes.
private struct Digests: Sendable {
  private let wanted: S3ContentDigests.Wanted
  private var checksum: Checksum?
  private var sha256 = SHA256()
  private var md5 = Insecure.MD5()

  init(_ wanted: S3ContentDigests.Wanted) {
    self.wanted = wanted
    checksum = wanted.checksum.map { Checksum($0) }
  }

  /// Whether the checksum is the digest of the signature, in another notation.
  private var isShared: Bool { wanted.checksum == .sha256 }

  mutating func update(_ piece: Data) {
    checksum?.update(piece)
    if wanted.isSigned, !isShared { sha256.update(data: piece) }
    if wanted.md5 { md5.update(data: piece) }
  }

  var values: S3ContentDigests.Values {
    var values = S3ContentDigests.Values(checksum: checksum?.text)
    if wanted.isSigned {
      let digest = isShared ? Data(base64Encoded: values.checksum ?? "") ?? Data() : Data(sha256.finalize())
      var text = CanonicalText(capacity: 64)
      text.append(hexadecimal: digest)
      values.signed = text.string
    }
    if wanted.md5 { values.md5 = Data(md5.finalize()).base64EncodedString() }
    return values
  }
}
