public import ApusCore

/// The properties with which an object is stored.
public struct S3PutOptions: Sendable {
  /// The app's own metadata by name. The metadata is sent as fields (headers) with the prefix `x-amz-meta-`. Default:
  /// none.
  public var metadata: [String: String] = [:]
  /// The checksum that is sent with the content (body), so that the server rejects damaged content. `nil`: no checksum,
  /// for servers that do not support it. Default: ``ChecksumAlgorithm/crc64nvme``.
  public var checksum: ChecksumAlgorithm? = .crc64nvme
  /// Further fields, for example `Cache-Control`, `If-None-Match: *` (store only if no object has the key) or
  /// `x-amz-storage-class`. Default: none.
  public var fields: [RawField] = []

  /// Creates options that differ from the defaults in the given values.
  public init(metadata: [String: String] = [:], checksum: ChecksumAlgorithm? = .crc64nvme, fields: [RawField] = []) {
    (self.metadata, self.checksum, self.fields) = (metadata, checksum, fields)
  }

  /// Returns a request with the fields.
  func describe<Value>(_ request: Request<Value>) -> Request<Value> {
    var request = request
    let metadata = metadata.sorted { $0.key < $1.key }.map { RawField("x-amz-meta-\($0.key)", $0.value) }
    for field in fields + metadata {
      request = request.field(field.name, field.value, isSensitive: field.isSensitive)
    }
    return request
  }
}
