package import ApusFiles

/// The options of a download to a file.
public struct DownloadOptions: Sendable {
  /// Whether an existing file is replaced, atomically, when the new file is complete. Default: `false`; the download
  /// then fails before anything is sent, because a replaced file cannot be restored.
  public var replacesExisting = false
  /// Whether the download continues from the bytes of an earlier download. Default: `true`. If `false`, those bytes are
  /// removed.
  public var resumes = true
  /// The digest that the complete file must have, in addition to the digests that the server states. Default: `nil`.
  public var digest: FileDigest?
  /// The maximum size of the file in bytes. Default: `nil`, no maximum.
  ///
  /// The download of a larger file fails with the reason ``TransferError/Reason/sizeLimit``: as soon as the server
  /// states the length, or else at the first byte beyond the maximum. A content limit of the endpoint applies as well;
  /// the client's limit does not, because it is for content in memory.
  public var maximumSize: Int64?
  /// The number of times the download continues by itself after the connection was lost or the transfer stalled.
  /// Default: 5. The download continues only if bytes have arrived since the last interruption, and if the server
  /// permits it. With several ranges, each range has this number of continuations.
  public var maximumContinuations = 5
  /// The maximum number of ranges that are requested concurrently (RFC 9110 §14), from 1 to 16. Default: 1.
  ///
  /// Use several ranges for large files where the server, or the network, limits the rate of a connection. The file is
  /// split when the first response has stated a strong validator and a length, and only if each range has at least 1
  /// MiB. Each range is a separate call: limits of the client apply to it, and over HTTP/1.1 it has a separate
  /// connection. If the server ignores or rejects ranges, fewer ranges are requested. Digests are computed when all
  /// bytes have arrived.
  ///
  /// A request whose `duplicatePolicy` forbids several calls with its id has one range at a time.
  public var maximumParallelRanges = 1
  /// The minimum number of bytes of a range.
  var minimumRange: Int64 = 1 << 20
  /// The number of bytes after which content is flushed. A power loss costs at most this number, plus the bytes that
  /// arrive during the flush.
  package var checkpointInterval: Int64 = 64 << 20
  /// A name of the account that downloads. Default: `nil`. Bytes of an earlier download are used for the same account
  /// only. The record contains a hash of the name.
  ///
  /// Set a name if several accounts may download to one path: in an app in which users sign in and out, or on a server.
  public var account: String?
  /// The name of the resource. Default: `nil`, the method and the URL with its query.
  ///
  /// Bytes of an earlier download are used only if that download had the same name. Set a name if the URL differs each
  /// time, for example because of a signature in its query.
  public var resource: String?
  /// Starts a check of the complete content, in addition to its digests. Default: `nil`.
  package var makeCheck: (@Sendable () -> any ContentCheck)?
  /// Called with the complete and verified file, before it gets its final name.
  package var willPublish: (@Sendable (FileVersion) async throws(TransferError) -> Void)?

  /// Creates options that differ from the defaults in the given values.
  public init(replacesExisting: Bool = false, resumes: Bool = true, digest: FileDigest? = nil) {
    self.replacesExisting = replacesExisting
    self.resumes = resumes
    self.digest = digest
  }
}
