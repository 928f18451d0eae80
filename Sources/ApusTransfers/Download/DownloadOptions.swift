#if Transfers
/// The options of a download to a file.
public struct DownloadOptions: Sendable {
  /// Whether an existing file is replaced, atomically, when the new one is complete. Default: `false`; the download
  /// then fails before anything is sent, because a replaced file cannot be restored.
  public var replacesExisting = false
  /// Whether the download continues from the bytes that an earlier one left. Default: `true`. Otherwise they are
  /// removed.
  public var resumes = true
  /// The digest that the complete file must have, in addition to those that the server states. Default: `nil`.
  public var digest: FileDigest?
  /// The number of times the download continues by itself after the connection was lost or the transfer stalled.
  /// Default: 5. It continues only if bytes have arrived since the last time, and if the server permits it.
  public var continuations = 5
  /// The name of the resource. Default: `nil`, the method and the URL with its query.
  ///
  /// Bytes of an earlier download are used only if it had the same name. Set it if the URL differs each time, for
  /// example because of a signature in its query.
  public var resource: String?

  /// Creates the default options.
  public init() {}

  /// Creates options that differ from the defaults in the given values.
  public init(replacesExisting: Bool = false, resumes: Bool = true, digest: FileDigest? = nil) {
    self.replacesExisting = replacesExisting
    self.resumes = resumes
    self.digest = digest
  }
}
#endif
