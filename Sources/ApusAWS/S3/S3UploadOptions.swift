public import ApusCore
public import ApusTransfers

/// The options of an upload of a file.
public struct S3UploadOptions: Sendable {
  /// The properties of the object: metadata, checksum, fields.
  public var object = S3PutOptions()
  /// The media type. Default: `nil`, the media type of the file's extension.
  public var mediaType: MediaType?
  /// The store of the records from which another process continues. Default: `nil`, only this call continues after an
  /// interruption.
  public var store: FileTransferStore?
  /// A name of the account that uploads, see `UploadOptions.account`. Default: `nil`.
  public var account: String?
  /// Whether the parts on the server are removed if the upload fails or is cancelled. Default: `nil`, only without a
  /// ``store``, because no later call could continue from them.
  public var abortsOnFailure: Bool?
  /// The number of bytes of a part, from 5 MiB to 5 GiB. Default: `nil`, 8 MiB. For a file that would have more than
  /// 10,000 parts, the size is increased. Smaller files are sent with one request.
  public var partSize: Int64?
  /// The maximum number of parts that are sent concurrently, from 1 to 16. Default: 4. The limits of the client apply,
  /// too.
  public var maximumParallelParts = 4

  /// Creates options that differ from the defaults in the given values.
  public init(object: S3PutOptions = S3PutOptions(), store: FileTransferStore? = nil) {
    (self.object, self.store) = (object, store)
  }
}
