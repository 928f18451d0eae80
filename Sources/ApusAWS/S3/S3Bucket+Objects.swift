public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension S3Bucket {
  /// Stores an object. An existing object with this key is replaced.
  ///
  /// The content (body) is read twice: once for its checksum, and once while it is sent. For large files use
  /// ``upload(_:to:options:)``, because such an upload can be resumed.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - content: the content; with a known length and replayable. At most 5 GiB.
  ///   - options: metadata, checksum and fields. Default: `S3PutOptions()`.
  /// - Throws: `CallError`. Its ``ApusCore/CallError/s3`` is the server's reason.
  @discardableResult
  public func put(
    _ key: String, _ content: RequestContent, options: S3PutOptions = S3PutOptions()
  ) async throws(CallError) -> S3ObjectInfo {
    let response = try await store(key, content, options)
    return S3ObjectInfo(stored: key, response.fields)
  }

  /// Reads an object into memory, up to the client's content limit.
  ///
  /// The content is compared with the checksum of the object if the server states a checksum that covers it.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - range: the offsets of the bytes to read. Default: `nil`, all bytes.
  ///   - version: the version. Default: `nil`, the latest.
  /// - Throws: `CallError`, with the ``ApusCore/CallError/s3`` code `NoSuchKey` if the object does not exist. With the
  ///   code `malformedResponse` the content does not match its checksum.
  public func get(
    _ key: String, range: Range<Int64>? = nil, version: String? = nil
  ) async throws(CallError) -> S3Object {
    if let range, range.isEmpty { return S3Object(data: Data(), info: try await head(key, version: version)) }
    let response = try await client.response(to: getting(key, range, version))
    return S3Object(data: response.value.data, info: S3ObjectInfo(key, response.fields))
  }

  /// Reads an object in a closure while it arrives.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - range: the offsets of the bytes to read; not empty. Default: `nil`, all bytes.
  ///   - version: the version. Default: `nil`, the latest.
  ///   - body: reads the content; runs on the caller's actor. `next()` throws after the last piece if the content does
  ///     not match its checksum.
  /// - Throws: `CallError`. An error of the closure becomes its `underlying` error, with the code `handler`.
  public func withContent<Output>(
    of key: String, range: Range<Int64>? = nil, version: String? = nil,
    _ body: (inout StreamedResponse) async throws -> Output
  ) async throws(CallError) -> Output {
    try await client.withResponse(to: getting(key, range, version), body)
  }

  /// Reads the properties of an object.
  ///
  /// - Throws: `CallError`, with the status 404 if the object does not exist.
  public func head(_ key: String, version: String? = nil) async throws(CallError) -> S3ObjectInfo {
    var request = request(.head, route(key, Self.version(version)), mapping: .content)
      .field("x-amz-checksum-mode", "ENABLED")
    // The progress belongs to the content, which a later request downloads.
    request.options.downloadProgress = nil
    return S3ObjectInfo(key, try await client.response(to: request).fields)
  }

  /// Copies an object of at most 5 GiB on the server. An existing object with the new key is replaced.
  ///
  /// - Parameters:
  ///   - key: the key of the object.
  ///   - bucket: the name of the object's bucket. Default: `nil`, this bucket.
  ///   - newKey: the key of the copy, in this bucket.
  ///   - version: the version to copy. Default: `nil`, the latest.
  /// - Throws: `CallError`, also if the server reports the failure in a response with a status of success.
  @discardableResult
  public func copy(
    _ key: String, from bucket: String? = nil, to newKey: String, version: String? = nil
  ) async throws(CallError) -> S3ObjectInfo {
    var source = CanonicalText()
    source.append("/" as Unicode.Scalar)
    source.append(encoding: (bucket ?? name).utf8)
    source.append("/" as Unicode.Scalar)
    source.append(encoding: key.utf8, keepsSlashes: true)
    if let version {
      source.append("?versionId=")
      source.append(encoding: version.utf8)
    }
    let request = request(.put, route(newKey), document: "CopyObjectResult")
      .field("x-amz-copy-source", source.string)
    let response = try await client.response(to: request)
    return S3ObjectInfo(stored: newKey, response.fields, entityTag: response.value.text(of: "ETag"))
  }

  // MARK: Requests

  /// Sends the request that stores an object.
  func store(
    _ key: String, _ content: RequestContent, _ options: S3PutOptions
  ) async throws(CallError) -> Response<Content> {
    var route = route(key)
    route.checksum = options.checksum
    return try await client.response(to: options.describe(request(.put, route, content, mapping: .content)))
  }

  private func getting(_ key: String, _ range: Range<Int64>?, _ version: String?) -> Request<Content> {
    var route = route(key, Self.version(version))
    (route.success, route.verifies) = (.object, range == nil)
    // The checksum does not cover content that a transport has decoded.
    let request = request(.get, route, mapping: .content).field("Accept-Encoding", "identity")
    guard let range else { return request.field("x-amz-checksum-mode", "ENABLED") }
    return request.field("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
  }

  static func version(_ version: String?) -> [S3Route.Parameter] {
    version.map { [S3Route.Parameter("versionId", $0)] } ?? []
  }
}

extension ResponseMapping where Value == XMLTree {
  /// Returns a mapping that reads a document whose root element has this name.
  static func document(_ name: String) -> ResponseMapping {
    ResponseMapping { content throws in
      let tree = try XMLReader.read(content.data)
      guard tree.name == name else { throw XMLFailure.missing(name) }
      return tree
    }
  }
}
