public import ApusCore
import ApusMiddleware
import HTTPTypes

/// A bucket, and the operations on its objects. Created by ``S3/bucket(_:)``.
///
/// A key is any text of 1 to 1,024 bytes in UTF-8. Keys are sent unchanged: `a//b`, `../a` and `a%25` are three
/// different keys, and none of them is normalized.
public struct S3Bucket: Sendable {
  /// The name of the bucket.
  public let name: String
  /// The options of all calls: tags, timeout, content limit, settings for middlewares. Default: none.
  public var options = CallOptions()
  let s3: S3

  init(name: String, s3: S3) {
    (self.name, self.s3) = (name, s3)
  }

  var client: Client { s3.client }

  /// Creates the bucket in the region of the ``S3``.
  ///
  /// - Throws: `CallError`. Its ``ApusCore/CallError/s3`` has the code `BucketAlreadyOwnedByYou` or
  ///   `BucketAlreadyExists` if a bucket with this name exists.
  public func create() async throws(CallError) {
    var content = RequestContent.empty
    if s3.region != "us-east-1" {
      let document = XMLTree(
        "CreateBucketConfiguration", children: [XMLTree("LocationConstraint", text: s3.region)])
      content = .bytes(XMLWriter.document(document, namespace: S3Document.namespace), "application/xml")
    }
    try await client.send(request(.put, route(), content, mapping: .constant(())))
  }

  /// Removes the bucket, which must be empty.
  ///
  /// - Throws: `CallError`.
  public func remove() async throws(CallError) {
    try await client.send(request(.delete, route(), mapping: .constant(())))
  }

  /// Whether the bucket exists and may be used with the credentials.
  ///
  /// - Throws: `CallError`, for example if access is denied.
  public func exists() async throws(CallError) -> Bool {
    do throws(CallError) {
      try await client.send(request(.head, route(), mapping: .constant(())))
      return true
    } catch {
      guard error.status == 404 else { throw error }
      return false
    }
  }

  // MARK: Requests

  func route(_ key: String? = nil, _ query: [S3Route.Parameter] = []) -> S3Route { S3Route(name, key, query) }

  /// Returns the request of an operation.
  func request<Value>(
    _ method: HTTPRequest.Method, _ route: S3Route, _ content: RequestContent = .empty, mapping: ResponseMapping<Value>
  ) -> Request<Value> {
    var request = Request(method: method, path: route.path, content: content, mapping: mapping)
    request.options = options
    return request.routed(route)
  }
}

extension S3Bucket {
  /// Returns the request of an operation whose result is a document.
  func request(
    _ method: HTTPRequest.Method, _ route: S3Route, _ content: RequestContent = .empty, document name: String
  ) -> Request<XMLTree> {
    var route = route
    route.success = .document
    return request(method, route, content, mapping: .document(name))
  }
}

extension Request {
  /// Returns the request with the bucket, key and parameters of a route.
  func routed(_ route: S3Route) -> Request {
    setting(S3RouteKey.self, route).setting(S3DigestsKey.self, S3ContentDigests())
      .coding { $0.format = S3RejectionFormat() }.rejecting(as: S3Rejection.self).redirects(.none).coalesced(false)
  }
}

extension S3Bucket: SelfRedacting {
  /// The name of the bucket.
  public var description: String { "S3Bucket(\(name))" }
}

/// The properties that all documents of S3 share.
enum S3Document {
  static let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
}
