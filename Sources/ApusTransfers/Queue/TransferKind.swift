import ApusCore
import ApusFiles
import ApusMiddleware
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The code that performs the transfers of one endpoint type in one direction.
struct TransferKind: Sendable {
  /// The part of a record that identifies its kind.
  struct Key: Hashable, Sendable {
    let direction: Transfer.Direction
    let name: String
  }

  /// Performs the transfer. Returns when it is complete and the app is notified.
  let run: @Sendable (TransferRun) async throws -> Void
  /// Removes an incomplete upload from the server and from the store. `nil` for downloads.
  let discardUpload: (@Sendable (TransferRun) async throws -> Void)?

  init<E: TransferEndpoint>(
    downloading type: E.Type, _ whenComplete: @escaping @Sendable (E, DownloadedFile) async -> Void
  ) {
    run = { run in
      let endpoint = try run.endpoint(E.self)
      guard let path = run.description.path else { throw TransferError(.unusableEndpoint) }
      let file: DownloadedFile
      if let published = run.transfer.published, try await PartialFile.isPublished(path, published) {
        // The previous process ended after the file got its final name, but the app may not have been notified.
        file = DownloadedFile(path, published.size)
      } else {
        var options = endpoint.downloadOptions
        (options.resource, options.account) = (run.id.rawValue, run.uploadOptions.account)
        options.willPublish = { file throws(TransferError) in try await run.transfer.store(published: file) }
        let request = try await endpoint.request(by: run.client).prepared(for: run)
        file = try await run.ending { [options] in
          try await run.client.download(request, to: path, options: options)
        }
      }
      await run.notify { await whenComplete(endpoint, file) }
    }
    discardUpload = nil
  }

  init<E: TransferEndpoint>(
    uploading type: E.Type, by uploadProtocol: UploadProtocol,
    _ whenComplete: @escaping @Sendable (E, UploadResult<E.Value>) async -> Void
  ) {
    run = { run in
      let endpoint = try run.endpoint(E.self)
      let request = try await endpoint.request(by: run.client).prepared(for: run)
      if let uploaded = run.transfer.uploaded {
        // The previous process ended after the response had arrived, but the app may not have been notified.
        try await UploadRecord.remove(run.uploadOptions)
        let value = try await run.ending { try run.client.emptyValue(of: request, length: uploaded.size) }
        let result = UploadResult(value: value, uploaded)
        await run.notify { await whenComplete(endpoint, result) }
        return
      }
      let hooks = UploadHooks<E.Value> { end in
        await run.transfer.store(end)
      } whenComplete: { result in
        await run.notify { await whenComplete(endpoint, result) }
      }
      let result = try await run.ending {
        try await run.client.upload(request, by: uploadProtocol, options: run.uploadOptions, hooks)
      }
      // The endpoint's mapping has read a value from a rejection, so no later call continues the upload.
      if result.head.status.kind != .successful { try await UploadRecord.remove(run.uploadOptions) }
    }
    discardUpload = { run in
      let request = try await run.endpoint(E.self).request(by: run.client).prepared(for: run)
      try await run.client.discardUpload(request, by: uploadProtocol, options: run.uploadOptions)
    }
  }
}

/// The values and callbacks that a kind needs to run one transfer.
struct TransferRun: Sendable {
  let client: Client
  let description: TransferDescription
  let uploadOptions: UploadOptions
  let priority: CallPriority
  /// The principal that all calls of a queue share.
  let principal: CommonPrincipal
  let reporter = ProgressReporter()
  let transfer: QueuedTransfer

  var id: Transfer.ID { description.id }

  /// - Throws: ``TransferError`` if the type has changed since the transfer was stored.
  func endpoint<E: TransferEndpoint>(_ type: E.Type) throws -> E {
    do {
      return try JSONDecoder().decode(E.self, from: Data(description.endpoint.utf8))
    } catch {
      throw TransferError(.unusableEndpoint, underlying: error)
    }
  }

  /// Performs the operation that completes the transfer. If it fails, the stored completion is removed.
  func ending<Output>(_ work: () async throws -> Output) async throws -> Output {
    do {
      return try await work()
    } catch {
      transfer.clearEnd()
      throw error
    }
  }

  /// Calls the app's closure in a task that is not cancelled with the transfer, because the transfer is complete.
  func notify(_ closure: @escaping @Sendable @concurrent () async -> Void) async {
    transfer.update { $0.finish() }
    await client.spawnDetached(closure).value
  }
}

extension Request {
  /// Returns the request with the priority, the account and the progress of a transfer.
  fileprivate func prepared(for run: TransferRun) -> Request<Value> {
    var request = priority(run.priority)
    request.options.values[CommonPrincipalKey.self] = run.principal
    request.options.values[BackgroundTransferKey.self] = run.id.rawValue
    switch run.description.direction {
    case .download: request.options.downloadProgress = run.reporter
    case .upload: request.options.uploadProgress = run.reporter
    }
    return request
  }
}
