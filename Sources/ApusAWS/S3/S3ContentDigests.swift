import ApusCore
import ApusTransfers
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The digests of the content (body) of a request. They are computed before the content is sent, once for all attempts
/// of a call.
final class S3ContentDigests: Sendable {
  /// The digests to compute.
  struct Selection: Hashable, Sendable {
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

  private let known = Mutex<(selection: Selection, values: Values)?>(nil)

  /// The checksum in Base64, if it was computed.
  var checksum: String? { known.withLock { $0?.values.checksum } }

  /// Returns the digests of content.
  func values(of content: MessageContent, _ selection: Selection) async throws -> Values {
    if let known = known.withLock({ $0 }), known.selection == selection { return known.values }
    let values = try await Self.compute(content, selection)
    known.withLock { $0 = (selection, values) }
    return values
  }

  private static func compute(_ content: MessageContent, _ selection: Selection) async throws -> Values {
    guard selection != Selection() else { return Values() }
    if case .stream(let stream) = content, let slice = stream.slice {
      return try await slice.reduced(into: Digests(selection)) { $0.update($1) }.values
    }
    var digests = Digests(selection)
    let pieces = try await content.makePieces()
    while let piece = try await pieces() { digests.update(piece) }
    return digests.values
  }
}

/// Digests of consecutive bytes.
private struct Digests: Sendable {
  private let selection: S3ContentDigests.Selection
  private var checksum: Checksum?
  private var sha256 = SHA256()
  private var md5 = Insecure.MD5()

  init(_ selection: S3ContentDigests.Selection) {
    self.selection = selection
    checksum = selection.checksum.map { Checksum($0) }
  }

  /// Whether the checksum is the digest of the signature, in another notation.
  private var isShared: Bool { selection.checksum == .sha256 }

  mutating func update(_ piece: Data) {
    checksum?.update(piece)
    if selection.isSigned, !isShared { sha256.update(data: piece) }
    if selection.md5 { md5.update(data: piece) }
  }

  var values: S3ContentDigests.Values {
    var values = S3ContentDigests.Values(checksum: checksum?.text)
    if selection.isSigned {
      let digest = isShared ? Data(base64Encoded: values.checksum ?? "") ?? Data() : Data(sha256.finalize())
      var text = CanonicalText(capacity: 64)
      text.append(hexadecimal: digest)
      values.signed = text.string
    }
    if selection.md5 { values.md5 = Data(md5.finalize()).base64EncodedString() }
    return values
  }
}
