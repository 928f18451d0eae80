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
  /// The properties of the object are read first. Its entity tag must stay the same until the last byte, and the
  /// complete file must have the checksum of the object, if the server states one that covers it. An object with a
  /// content coding is saved as it is coded; over `URLSessionTransport`, which decodes it, the call fails. The rest is
  /// as with the client's `download(_:to:options:)`: the file gets its name when it is complete and verified, and the
  /// same call continues after an interruption, also in another process.
  ///
  /// Progress is reported to `downloadProgress` of ``S3Bucket/options``.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - path: the path of the file. Its folder must exist.
  ///   - version: the version. Default: `nil`, the latest.
  ///   - options: resuming, replacing, and the number of ranges that are requested at once. Default:
  ///     `DownloadOptions()`.
  /// - Throws: `CallError`. Its `transfer` tells what was kept, its ``ApusCore/CallError/s3`` the reason that the
  ///   server gave.
  /// - Cancellation: the code is `cancelled`; what has arrived is kept.
  public func download(
    _ key: String, to path: String, version: String? = nil, options: DownloadOptions = DownloadOptions()
  ) async throws(CallError) -> DownloadedFile {
    let info = try await head(key, version: version)
    // The file has the stored bytes, which the checksum covers, also those of an object with a content coding.
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

/// The comparison of a file with the checksum of its object.
private final class S3ContentCheck: ContentCheck {
  private let wanted: String
  private let stream: Mutex<Checksum>

  init(_ algorithm: ChecksumAlgorithm, _ wanted: String) {
    self.wanted = wanted
    stream = Mutex(Checksum(algorithm))
  }

  func update(_ bytes: Data) {
    stream.withLock { $0.update(bytes) }
  }

  var isMatch: Bool { stream.withLock { $0.text } == wanted }
}
