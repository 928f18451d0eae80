public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The properties of an object that the server states in a list, in a response about the object, or when the object is
/// stored.
public struct S3ObjectInfo: Sendable, Hashable {
  /// The key.
  public let key: String
  /// The number of bytes of the object, even if only a range was requested. Never `nil` in a list; `nil` after `put`
  /// and `copy`.
  public let size: Int64?
  /// The entity tag, with its quotation marks. In general it is not a digest of the content.
  public let entityTag: String?
  /// The version, if the bucket has versioning. `nil` in a list.
  public let version: String?
  /// The time of the last change. `nil` in the results of `put` and `copy`.
  public private(set) var lastModified: Date?
  /// The storage class, for example `GLACIER`. The server states `STANDARD` only in a list.
  public private(set) var storageClass: String?
  /// The media type. `nil` in a list, and in the results of `put` and `copy`.
  public private(set) var mediaType: MediaType?
  /// The app's own metadata by name, without the prefix `x-amz-meta-`, in lower case. Empty in a list, and in the
  /// results of `put` and `copy`.
  public private(set) var metadata: [String: String] = [:]
  /// The fields of the response. `nil` in a list.
  let fields: HTTPFields?

  /// Returns the value of a field (header) of the response by its case-insensitive name. The values of several fields
  /// with that name are joined by commas (RFC 9110 §5.3).
  ///
  /// - Returns: the value, or `nil` if no field has the name, the name is not a token, or the object is from a list.
  public func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields?[$0] } }

  /// Creates the properties that a response to a request for the object states.
  init(_ key: String, _ fields: HTTPFields) {
    self.init(key, fields, size: Self.size(in: fields), entityTag: fields[.eTag])
    lastModified = fields[.lastModified].flatMap { HTTPDate.parse($0) }.map { Date(timeIntervalSince1970: Double($0)) }
    mediaType = fields[.contentType].map { MediaType($0) }
    storageClass = HTTPField.Name("x-amz-storage-class").flatMap { fields[$0] }
    let prefix = "x-amz-meta-"
    let pairs = fields.filter { $0.name.canonicalName.hasPrefix(prefix) }
      .map { (String($0.name.canonicalName.dropFirst(prefix.count)), $0.value) }
    metadata = Dictionary(pairs) { "\($0),\($1)" }
  }

  /// Creates the properties of an object that was stored.
  ///
  /// - Parameters:
  ///   - fields: the fields of the response.
  ///   - entityTag: the entity tag in the content of the response. Default: `nil`, the entity tag in the fields.
  ///   - size: the number of bytes of the object. Default: `nil`, unknown.
  init(stored key: String, _ fields: HTTPFields, entityTag: String? = nil, size: Int64? = nil) {
    self.init(key, fields, size: size, entityTag: entityTag ?? fields[.eTag])
  }

  /// Parses an object of a list.
  init(listed tree: XMLTree, isEncoded: Bool) throws {
    guard let key = tree.text(of: "Key") else { throw XMLFailure.missing("Key") }
    guard let size = tree.text(of: "Size").flatMap({ Int64($0) }) else { throw XMLFailure.missing("Size") }
    self.init(S3Page.key(key, isEncoded: isEncoded), nil, size: size, entityTag: tree.text(of: "ETag"))
    lastModified = tree.text(of: "LastModified").flatMap { Self.date($0) }
    storageClass = tree.text(of: "StorageClass")
  }

  private init(_ key: String, _ fields: HTTPFields?, size: Int64?, entityTag: String?) {
    (self.key, self.fields, self.size, self.entityTag) = (key, fields, size, entityTag)
    version = HTTPField.Name("x-amz-version-id").flatMap { fields?[$0] }
  }

  /// Returns the complete length in `Content-Range`, or in `Content-Length` if that field is missing.
  static func size(in fields: HTTPFields) -> Int64? {
    guard let range = fields[.contentRange] else { return fields[.contentLength].flatMap { Int64($0) } }
    return range.split(separator: "/").last.flatMap { Int64($0) }
  }

  private static func date(_ text: String) -> Date? {
    (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
      ?? (try? Date.ISO8601FormatStyle().parse(text))
  }
}

/// An object in memory.
public struct S3Object: Sendable, Hashable {
  /// The content, or the requested range of the content.
  public let data: Data
  /// The properties.
  public let info: S3ObjectInfo
}
