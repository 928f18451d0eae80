public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Client {
  /// Uploads content in a way that can be resumed, and continues an upload that was interrupted.
  ///
  /// <!-- sample: upload -->
  /// ```swift
  /// let film = Request<Void>.post("/files", content: .file("/films/7.mp4"))
  /// let options = UploadOptions(store: FileTransferStore("/var/lib/films/uploads"))
  /// let uploaded = try await api.upload(film, by: .tus(), options: options)
  /// print(uploaded.size, uploaded.resumedBytes)
  /// ```
  ///
  /// After a lost connection or a temporary rejection the call continues by itself, after a delay, from the offset that
  /// the server states. With a store the same call, also in another process, continues an upload that ended in any
  /// other way; cancelling the task pauses the upload. ``discardUpload(_:by:options:)`` removes it.
  ///
  /// The progress of the whole upload is reported to the endpoint's `uploadProgress(_:)`. The endpoint's settings, such
  /// as its tags, priority and timeout, apply to each request.
  ///
  /// - Parameters:
  ///   - endpoint: an endpoint of any style whose content (body) has a known length and can be read several times: a
  ///     file, bytes, or a replayable stream.
  ///   - uploadProtocol: the protocol that the server speaks.
  ///   - options: the store and the account. Default: ``UploadOptions/init(store:account:)``.
  /// - Throws: `CallError`. Its ``ApusCore/CallError/transfer`` contains the number of bytes that the server is known
  ///   to have. The code is `malformedResponse` if the URL of the upload, also a stored URL, is http while the endpoint
  ///   is https. Such a URL is accepted if the endpoint's redirect policy permits redirects from https to http.
  /// - Cancellation: the code is `cancelled`; the bytes on the server are kept.
  public func upload<E: Endpoint>(
    _ endpoint: E, by uploadProtocol: UploadProtocol, options: UploadOptions = UploadOptions()
  ) async throws(CallError) -> UploadResult<E.Value> {
    try await upload(endpoint.resolvedRequest, by: uploadProtocol, options: options, UploadHooks())
  }

  /// - Parameter hooks: the callbacks of the queue that performs the upload.
  @concurrent
  func upload<Value>(
    _ request: Request<Value>, by uploadProtocol: UploadProtocol, options: UploadOptions, _ hooks: UploadHooks<Value>
  ) async throws(CallError) -> UploadResult<Value> {
    var request = request.ofOnePrincipal
    let reporter = request.options.uploadProgress
    request.options.uploadProgress = nil
    do throws(CallError) {
      let calls = try await calls(of: request, reportingTo: reporter)
      let result = try await withRecord(of: calls, uploadProtocol.driver, options) { place throws(CallError) in
        // The content has changed, so the old upload can never be resumed: delete it on the server.
        if let ticket = place.abandoned { try? await uploadProtocol.driver.cancel(ticket, calls) }
        var place = place
        place.storeEnd = hooks.storeEnd
        var upload = Upload(uploadProtocol.driver, calls, place, options)
        return try await upload.run { end throws(CallError) in
          let result = UploadResult(value: try value(of: end, request, calls), end, calls.length)
          await hooks.whenComplete(result)
          return result
        }
      }
      reporter?.finish(isComplete: true)
      return result
    } catch {
      reporter?.finish(isComplete: false)
      if let value = request.mapping.value(of: error) {
        let result = UploadResult(value: value, head: error.head ?? HTTPResponse(status: .ok))
        await hooks.whenComplete(result)
        return result
      }
      throw error
    }
  }

  /// Removes an incomplete upload from the server and from the store. Does nothing if the store has no record of the
  /// upload.
  ///
  /// - Parameters:
  ///   - endpoint: the endpoint with its content, as it was passed to ``upload(_:by:options:)``.
  ///   - uploadProtocol: the protocol.
  ///   - options: the store and the account.
  /// - Throws: `CallError`, with the code `refused` while the upload runs. If the server rejects the request, the
  ///   record stays, unless the status means that the server does not know the upload or cannot remove it (404, 405,
  ///   410, 501). If an https response stated an http URL for the upload, no request is sent to this URL, and the
  ///   record is removed.
  public func discardUpload<E: Endpoint>(
    _ endpoint: E, by uploadProtocol: UploadProtocol, options: UploadOptions
  ) async throws(CallError) {
    let request = endpoint.modified { $0.options.uploadProgress = nil }.ofOnePrincipal
    let calls = try await calls(of: request, reportingTo: nil)
    try await withRecord(of: calls, uploadProtocol.driver, options) { place throws(CallError) in
      guard let record = place.record, let ticket = place.stored?.ticket ?? place.abandoned else { return }
      do throws(CallError) {
        try await uploadProtocol.driver.cancel(ticket, calls)
      } catch {
        let isUnreachable = error.underlying is DowngradeRefusal
        guard isUnreachable || error.status.map({ [404, 405, 410, 501].contains($0) }) == true else { throw error }
      }
      do throws(TransferError) {
        try await record.write(nil)
      } catch {
        throw failure(error.code ?? .refused, of: request, error)
      }
    }
  }

  private func value<Value>(
    of end: Upload.End, _ request: Request<Value>, _ calls: UploadCalls
  ) throws(CallError) -> Value {
    if let response = end.response { return try response.mapped(by: request.mapping).value }
    return try emptyValue(of: request, length: calls.length)
  }

  /// Returns the value of an empty response to a complete upload, if the endpoint has such a value.
  ///
  /// - Throws: `CallError`, whose cause has the reason `responseLost`.
  func emptyValue<Value>(of request: Request<Value>, length: Int64) throws(CallError) -> Value {
    if let value = try? request.mapping.read(Content(data: Data(), status: 204)) { return value }
    throw failure(.connectionLost, of: request, TransferError(.responseLost, keptBytes: length, total: length))
  }

  private func calls<Value>(
    of request: Request<Value>, reportingTo reporter: ProgressReporter?
  ) async throws(CallError) -> UploadCalls {
    let message = try await message(for: request)
    do throws(TransferError) {
      let source = try await UploadSource(message.content)
      return UploadCalls(client: self, request: request.mapped(by: .content), message: message, source: source) {
        reporter?.report($0, of: source.length, at: runtime.clock.now)
      }
    } catch {
      throw failure(error.code ?? .encoding, of: request, error)
    }
  }

  /// Performs an operation with the locked record of an upload and its content, if the upload is stored.
  private func withRecord<Output>(
    of calls: UploadCalls, _ driver: any UploadDriver, _ options: UploadOptions,
    _ work: (UploadPlace) async throws(CallError) -> Output
  ) async throws(CallError) -> Output {
    guard let store = options.store,
      let name = UploadRecord.name(driver, calls.message, calls.source, options)
    else { return try await work(UploadPlace()) }
    let record: LockedTransferRecord
    let stored: UploadRecord?
    do throws(TransferError) {
      record = try await store.lock(name)
    } catch {
      throw failure(error.code ?? .refused, of: calls.request, error)
    }
    do throws(TransferError) {
      stored = try await record.read().flatMap { UploadRecord($0) }
    } catch {
      await record.release()
      throw failure(error.code ?? .refused, of: calls.request, error)
    }
    var place = UploadPlace(record: record, stored: stored)
    if let stored, !stored.continues(driver, calls, now: Int64(Date().timeIntervalSince1970)) {
      place.stored = nil
      if driver.cancelsOnlyIncomplete, stored.driver == driver.name { place.abandoned = stored.ticket }
    }
    do throws(CallError) {
      let output = try await work(place)
      await record.release()
      return output
    } catch {
      await record.release()
      throw error
    }
  }
}
