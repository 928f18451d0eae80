public import ApusCore
public import ApusTransfers
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension S3Bucket {
  /// Uploads a file in parts, several concurrently, and continues an upload that was interrupted.
  ///
  /// Each part is read while it is sent, has a checksum, and is resent after a temporary failure. With a store the same
  /// call, also in another process, requests the list of stored parts from the server, and sends the missing parts;
  /// cancelling the task then pauses the upload. A file of at most one part is sent with one request.
  ///
  /// Progress is reported to `uploadProgress` of ``S3Bucket/options``.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - key: the key of the object. An object with this key is replaced when the upload is complete, not before.
  ///   - options: the store, the size and number of parts. Default: `S3UploadOptions()`.
  /// - Returns: the object on the server, and the number of bytes that an earlier call had sent.
  /// - Throws: `CallError`. Its `transfer` contains the number of bytes that the server is known to have, and its
  ///   ``ApusCore/CallError/s3`` the server's reason.
  /// - Cancellation: the code is `cancelled`.
  @discardableResult
  public func upload(
    _ path: String, to key: String, options: S3UploadOptions = S3UploadOptions()
  ) async throws(CallError) -> UploadResult<S3ObjectInfo> {
    let content = RequestContent.file(path, options.mediaType)
    let length = (try? ContentFile(path: path))?.length ?? 0
    guard let partSize = S3PartSize(for: length, requested: options.partSize) else {
      let error = TransferError(.contentTooLarge(limit: S3PartSize.maximumLength))
      throw CallError(.refused, message: "The file is too large for the server.", underlying: error)
    }
    guard length > partSize.bytes else {
      // The file may have had several parts during an earlier, interrupted upload.
      if options.store != nil { try? await discardUpload(of: path, to: key, options: options) }
      let response = try await store(key, content, options.object)
      let object = S3ObjectInfo(stored: key, response.fields, size: length)
      return UploadResult(value: object, size: length, head: response.head)
    }
    let request = options.object.describe(request(.put, route(key), content, mapping: .completion))
    let driver = driver(for: key, partSize, options)
    let transfer = transfer(to: key, options)
    do throws(CallError) {
      let result = try await client.upload(request, by: UploadProtocol(driver), options: transfer)
      let object = S3ObjectInfo(
        stored: key, result.head.headerFields, entityTag: result.value.entityTag, size: result.size)
      return UploadResult(
        value: object, size: result.size, resumedBytes: result.resumedBytes, head: result.head)
    } catch {
      if options.abortsOnFailure ?? (options.store == nil) { await abort(request, driver, transfer) }
      throw error
    }
  }

  /// Removes an incomplete upload, also of an earlier version of the file, from the server and from the store. Does
  /// nothing if the store has no record of the upload.
  ///
  /// A server may also have incomplete uploads without a record, for example if the response to their creation was
  /// lost. Configure a lifecycle rule of the bucket, so that the server removes such uploads.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - key: the key.
  ///   - options: the options of the upload.
  /// - Throws: `CallError`, with the code `refused` while the upload runs.
  public func discardUpload(of path: String, to key: String, options: S3UploadOptions) async throws(CallError) {
    let content = RequestContent.file(path, options.mediaType)
    guard let length = (try? ContentFile(path: path))?.length,
      let partSize = S3PartSize(for: length, requested: options.partSize)
    else { return }
    let request = options.object.describe(request(.put, route(key), content, mapping: .completion))
    let driver = driver(for: key, partSize, options)
    try await client.discardUpload(request, by: UploadProtocol(driver), options: transfer(to: key, options))
  }

  /// Returns the options of the transfer, which identify the object by a name, because its URL differs between regions.
  private func transfer(to key: String, _ options: S3UploadOptions) -> UploadOptions {
    var transfer = UploadOptions(store: options.store, account: options.account)
    transfer.resource = resource(key)
    return transfer
  }

  /// Returns the name of an object in the records of transfers.
  func resource(_ key: String) -> String { "s3 \(client.environment.baseURL) \(name)/\(key)" }

  private func driver(
    for key: String, _ partSize: S3PartSize, _ options: S3UploadOptions
  ) -> S3MultipartUpload {
    let conditions = options.object.fields.filter { ["if-match", "if-none-match"].contains($0.name.lowercased()) }
    return S3MultipartUpload(
      bucket: self, key: key, checksum: options.object.checksum, partSize: partSize,
      maximumParallelParts: min(max(options.maximumParallelParts, 1), 16), conditions: conditions)
  }

  /// Removes the parts of a failed upload, in a new task, because the current task may already be cancelled.
  private func abort(
    _ request: Request<S3Completion>, _ driver: S3MultipartUpload, _ transfer: UploadOptions
  ) async {
    guard let identifier = driver.identifier.current else { return }
    await client.spawnDetached { [self] in
      if transfer.store != nil {
        try? await client.discardUpload(request, by: UploadProtocol(driver), options: transfer)
      } else {
        let route = route(driver.key, [.init("uploadId", identifier)])
        try? await client.send(self.request(.delete, route, mapping: .constant(())).timeout(.seconds(10)))
      }
    }.value
  }
}

/// The response to the completion of an upload.
private struct S3Completion: Sendable {
  var entityTag: String?
}

extension ResponseMapping where Value == S3Completion {
  /// A mapping that reads the response. If the response was lost, it returns an empty completion.
  fileprivate static var completion: ResponseMapping {
    ResponseMapping { content in
      guard !content.data.isEmpty else { return S3Completion() }
      return S3Completion(entityTag: try XMLReader.read(content.data).text(of: "ETag"))
    }
  }
}
