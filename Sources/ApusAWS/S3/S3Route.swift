import ApusCore

/// The bucket, key and parameters of a request. The middleware writes them into the message.
///
/// A key may have segments that the path of an endpoint cannot have, such as `..`, so the request has a placeholder in
/// place of its path.
struct S3Route: Hashable, Sendable {
  /// A parameter of the query.
  struct Parameter: Hashable, Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String = "") {
      (self.name, self.value) = (name, value)
    }
  }

  /// The kinds of content (body) that a successful operation can have.
  enum Success: Hashable, Sendable {
    /// The bytes of an object, without restrictions.
    case object
    /// A document with the result, whose root element has a name that ends with `Result`.
    case document
    /// Content that the operation ignores.
    case nothing
  }

  /// The name of the bucket. Empty for the list of all buckets.
  let bucket: String
  /// The key of the object. `nil` for the bucket itself.
  let key: String?
  let query: [Parameter]
  /// The algorithm of the checksum of the request's content (body). `nil`: no checksum.
  var checksum: ChecksumAlgorithm?
  /// Whether the content needs the field `Content-MD5`.
  var sendsMD5 = false
  /// Whether the content of the response is compared with the checksum that the server states.
  var verifies = false
  /// The kind of content of a successful response.
  var success = Success.nothing
  /// The number of seconds for which a presigned URL is valid. `nil`: the request is signed in its fields.
  var presigned: Int?

  init(_ bucket: String, _ key: String? = nil, _ query: [Parameter] = []) {
    (self.bucket, self.key, self.query) = (bucket, key, query)
  }

  /// The path of an endpoint's request. Its template is `/{bucket}/{key}` or `/{bucket}`.
  var path: RequestPath { key == nil ? "/\("-", "bucket")" : "/\("-", "bucket")/\("-", "key")" }

  /// The text of ``path``.
  var placeholder: String { key == nil ? "/-" : "/-/-" }
}

enum S3RouteKey: ContextKey {
  static let defaultValue: S3Route? = nil
}

/// The content digests of a call, computed once for all of its attempts.
enum S3DigestsKey: ContextKey {
  static let defaultValue: S3ContentDigests? = nil
  static let affectsCoalescing = false
}
