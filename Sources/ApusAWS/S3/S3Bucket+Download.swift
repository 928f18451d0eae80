public import ApusCore
public import ApusTransfers
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension S3Bucket {
  /// Downloads an object to a file, and continues a download that was interrupted.
  ///
  /// The properties of the object are read first. Its entity tag must stay the same until the last byte, and if the
  /// server states a checksum of the whole object, the complete file must have this checksum. An object with a content
  /// coding is saved without decoding; over `URLSessionTransport`, which decodes such an object, the call fails. In all
  /// other respects this function behaves like the client's `download(_:to:options:)`: the file gets its final name
  /// when it is complete and verified, and the same call continues after an interruption, also in another process.
  ///
  /// Progress is reported to `downloadProgress` of ``S3Bucket/options``.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - path: the path of the file. Its folder must exist.
  ///   - version: the version. Default: `nil`, the latest.
  ///   - options: resuming, replacing, and the number of ranges that are requested concurrently. Default:
  ///     `DownloadOptions()`.
  /// - Throws: `CallError`. Its `transfer` contains the number of bytes that were kept, and its
  ///   ``ApusCore/CallError/s3`` the server's reason.
  /// - Cancellation: the code is `cancelled`; the received bytes are kept.
  public func download(
    _ key: String, to path: String, version: String? = nil, options: DownloadOptions = DownloadOptions()
  ) async throws(CallError) -> DownloadedFile {
    let info = try await head(key, version: version)
    // The file contains the stored bytes, which the checksum covers, even if the object has a content coding.
    var route = route(key, Self.version(version))
    route.success = .object
    var request = request(.get, route, mapping: .content)
      .field("Accept-Encoding", "identity")
    if let tag = info.entityTag { request = request.field("If-Match", tag) }
    var options = options
    if options.resource == nil { options.resource = resource(key) + (version.map { " \($0)" } ?? "") }
    if let stated = info.fields.flatMap({ ChecksumAlgorithm.stated(in: $0) }) {
      options.makeCheck = { S3ContentCheck(stated.algorithm, stated.value) }
    }
    return try await client.download(request, to: path, options: options)
  }
}

/// A check that compares a file with the checksum of its object.
private final class S3ContentCheck: ContentCheck {
  private let expected: String
  private let stream: Mutex<Checksum>

  init(_ algorithm: ChecksumAlgorithm, _ expected: String) {
    self.expected = expected
    stream = Mutex(Checksum(algorithm))
  }

  func update(_ bytes: Data) {
    stream.withLock { $0.update(bytes) }
  }

  var isMatch: Bool { stream.withLock { $0.text } == expected }
}
