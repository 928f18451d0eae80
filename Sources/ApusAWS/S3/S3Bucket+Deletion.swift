public import ApusCore
import ApusMiddleware
import HTTPTypes

/// An object that could not be deleted.
public struct S3DeletionFailure: Error, Sendable, Hashable {
  /// The key of the object.
  public let key: String
  /// The reason.
  public let reason: S3Error
}

extension S3DeletionFailure: SelfRedacting {
  /// The reason, without the key.
  public var description: String { "S3DeletionFailure(\(reason))" }
}

extension S3Bucket {
  /// Deletes an object. Deleting an object that does not exist succeeds.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - version: the version. Default: `nil`, the latest; in a bucket with versioning, earlier versions stay.
  /// - Throws: `CallError`.
  public func delete(_ key: String, version: String? = nil) async throws(CallError) {
    try await client.send(request(.delete, route(key, Self.version(version)), mapping: .constant(())))
  }

  /// Deletes any number of objects, up to 1,000 with each request.
  ///
  /// - Parameter keys: the keys.
  /// - Returns: the objects that could not be deleted, for example because a permission is missing.
  /// - Throws: `CallError` if a request fails. The objects of earlier requests are then already deleted.
  @discardableResult
  public func delete(_ keys: some Sequence<String> & Sendable) async throws(CallError) -> [S3DeletionFailure] {
    var failures: [S3DeletionFailure] = []
    var batch: [String] = []
    for key in keys {
      // An XML document cannot contain such a key.
      guard XMLWriter.canWrite(key) else {
        try await delete(key)
        continue
      }
      batch.append(key)
      if batch.count == Self.batchLimit {
        failures += try await delete(batch: batch)
        batch = []
      }
    }
    return batch.isEmpty ? failures : failures + (try await delete(batch: batch))
  }

  private func delete(batch: [String]) async throws(CallError) -> [S3DeletionFailure] {
    let objects = batch.map { XMLTree("Object", children: [XMLTree("Key", text: $0)]) }
    let document = XMLTree("Delete", children: objects + [XMLTree("Quiet", text: "true")])
    let content = XMLWriter.document(document, namespace: S3Document.namespace)
    var route = route(nil, [.init("delete")])
    route.sendsMD5 = true
    // Deleting an object twice is harmless.
    let request = request(.post, route, .bytes(content, "application/xml"), document: "DeleteResult").idempotent()
    return try await client.send(request).all("Error").map { error in
      let reason = S3Error(error) ?? S3Error(code: "InternalError", message: error.text(of: "Message"))
      return S3DeletionFailure(key: error.text(of: "Key") ?? "", reason: reason)
    }
  }

  private static let batchLimit = 1000
}
