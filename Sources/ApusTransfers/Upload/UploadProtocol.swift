/// The protocol of a resumable upload. The server must support the protocol.
public struct UploadProtocol: Sendable {
  package let driver: any UploadDriver

  package init(_ driver: any UploadDriver) {
    self.driver = driver
  }

  /// tus 1.0.0 (tus.io) with its extension creation. Expiration and termination are used if the server supports them.
  ///
  /// The endpoint is the URL that creates uploads, and the content of its request is uploaded. The endpoint's value is
  /// read from the response to the last bytes. This response is usually empty (`Request<Void>`). ``UploadResult/url``
  /// is the URL of the upload. An upload that the server no longer has starts over.
  ///
  /// - Parameters:
  ///   - metadata: values by their keys. The keys are ASCII without spaces and commas. Default: `nil`, which sends
  ///     `filename` for a file and `filetype` for content with a media type.
  ///   - checksum: the algorithm of the checksum of each part, so that the server discards a part that arrives damaged.
  ///     The content is then sent in parts of 8 MiB, each of which is read twice. The server must support the extension
  ///     and the algorithm. Default: `nil`, no checksum.
  public static func tus(metadata: [String: String]? = nil, checksum: Checksum? = nil) -> UploadProtocol {
    UploadProtocol(TusUpload(metadata: metadata, checksum: checksum))
  }

  /// The IETF draft "Resumable Uploads for HTTP", interop version 8.
  ///
  /// The endpoint receives the content. The endpoint's value is read from its final response, which any request of the
  /// upload may receive. A server that does not implement the draft receives an ordinary request.
  ///
  /// - Parameters:
  ///   - createsFirst: whether the first request creates the upload without content, so that the upload can be resumed
  ///     over every transport. Costs a round trip. Default: `false`; the first request sends all content, and can be
  ///     resumed if the server announces the upload in an interim response (104). `URLSession` does not report interim
  ///     responses.
  ///   - digest: the algorithm of the digest of the content (`Repr-Digest`, RFC 9530 §3) and of each part
  ///     (`Content-Digest`), so that the server can verify them. The content is then read twice, and sent in parts of 8
  ///     MiB after an interruption. Default: `nil`, no digest.
  public static func ietf(
    createsFirst: Bool = false, digest: FileDigest.Algorithm? = nil
  ) -> UploadProtocol {
    UploadProtocol(DraftUpload(createsFirst: createsFirst, digest: digest))
  }

  /// The algorithm of the checksum of a part.
  public enum Checksum: Sendable, Hashable {
    /// SHA-1, which every server with the checksum extension supports. SHA-1 protects against damage, not against an
    /// attacker.
    case sha1
    /// SHA-256.
    case sha256
  }
}

/// The options of an upload.
public struct UploadOptions: Sendable {
  /// The store of the records from which another process continues. Default: `nil`, only this call continues after an
  /// interruption.
  ///
  /// A file is recognized by its path, size, modification date and inode, bytes in memory by their hash. Uploads of
  /// other content are not stored.
  public var store: FileTransferStore?
  /// A name of the account that uploads. Default: `nil`. An interrupted upload is continued for the same account only.
  /// The store contains a hash of the name.
  public var account: String?
  /// The name of the upload in the store. Default: `nil`, the method and the URL with its query, and the content.
  ///
  /// Set a name if the URL differs each time, for example because of a signature in its query.
  public var resource: String?
  /// The number of times in a row that the call continues after an interruption without another byte on the server.
  /// Default: 5.
  public var maximumContinuations = 5

  /// Creates options.
  public init(store: FileTransferStore? = nil, account: String? = nil) {
    (self.store, self.account) = (store, account)
  }
}
