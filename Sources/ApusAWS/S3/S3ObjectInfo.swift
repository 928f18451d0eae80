public import ApusCore
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The properties of an object, as a server states them with its content or without it.
public struct S3ObjectInfo: Sendable, Hashable {
  /// The entity tag, with its quotation marks. It is not a digest of the content in general.
  public let entityTag: String?
  /// The number of bytes of the object, also if only a range was requested.
  public let size: Int64?
  /// The time of the last change, in whole seconds.
  public let lastModified: Date?
  /// The media type.
  public let mediaType: MediaType?
  /// The version, if the bucket keeps versions.
  public let version: String?
  /// The app's own metadata by their names without `x-amz-meta-`, in lower case.
  public let metadata: [String: String]
  /// All fields (headers).
  public let fields: HTTPFields

  /// Creates properties from the fields of a response.
  public init(_ fields: HTTPFields) {
    self.fields = fields
    entityTag = fields[.eTag]
    size = Self.size(fields)
    lastModified = fields[.lastModified].flatMap { HTTPDate.parse($0) }.map { Date(timeIntervalSince1970: Double($0)) }
    mediaType = fields[.contentType].map { MediaType($0) }
    version = HTTPField.Name("x-amz-version-id").flatMap { fields[$0] }
    let prefix = "x-amz-meta-"
    let pairs = fields.filter { $0.name.canonicalName.hasPrefix(prefix) }
      .map { (String($0.name.canonicalName.dropFirst(prefix.count)), $0.value) }
    metadata = Dictionary(pairs) { "\($0),\($1)" }
  }

  /// The complete length of `Content-Range`, or else `Content-Length`.
  private static func size(_ fields: HTTPFields) -> Int64? {
    guard let range = fields[.contentRange] else { return fields[.contentLength].flatMap { Int64($0) } }
    return range.split(separator: "/").last.flatMap { Int64($0) }
  }
}

/// An object in memory.
public struct S3Object: Sendable, Hashable {
  /// The content, or the range of it that was requested.
  public let data: Data
  /// The properties.
  public let info: S3ObjectInfo

  /// Creates an object, for fakes.
  public init(data: Data, info: S3ObjectInfo = S3ObjectInfo([:])) {
    (self.data, self.info) = (data, info)
  }
}

/// The result of storing an object.
public struct S3StoredObject: Sendable, Hashable {
  /// The entity tag, with its quotation marks; `nil` if the server states none.
  public let entityTag: String?
  /// The version, if the bucket keeps versions.
  public let version: String?

  /// Creates a result, for fakes.
  public init(entityTag: String? = nil, version: String? = nil) {
    (self.entityTag, self.version) = (entityTag, version)
  }

  /// Reads a response, whose content is a document for some operations.
  init(_ fields: HTTPFields, _ document: XMLTree? = nil) {
    entityTag = document?.text(of: "ETag") ?? fields[.eTag]
    version = HTTPField.Name("x-amz-version-id").flatMap { fields[$0] }
  }
}
