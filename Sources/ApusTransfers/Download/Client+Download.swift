public import ApusCore

extension Client {
  /// Downloads a file, and continues a download that was interrupted.
  ///
  /// <!-- sample: download -->
  /// ```swift
  /// let film = try await api.download("/films/7.mp4", to: "/tmp/7.mp4")
  /// print(film.size)
  /// ```
  ///
  /// The content (body) is written to `NAME.apus-part` in the folder of the file. The file gets its final name when it
  /// is complete, verified and on the disk, and never before.
  ///
  /// Cancelling the task pauses the download. The same call, also in another process, continues where the download
  /// ended. This requires that the server states a strong validator and a length (RFC 9110 §8.8.1) and serves ranges,
  /// and that the file has not changed. If a requirement is not met, the download starts over. ``discardDownload(to:)``
  /// removes the incomplete file and its record. After a lost connection the call continues by itself, see
  /// ``DownloadOptions/maximumContinuations``.
  ///
  /// The progress of the whole download, including the bytes of an earlier download, is reported to the endpoint's
  /// `downloadProgress(_:)`.
  ///
  /// The request accepts no content coding. If the server uses a content coding nevertheless, as for a compressed
  /// archive, the bytes are saved as they were sent.
  ///
  /// The digests in `Repr-Digest` and `Content-Digest` (RFC 9530), and ``DownloadOptions/digest``, are verified.
  ///
  /// If a complete and verified file cannot get its final name, for example because another file has that name, its
  /// bytes are kept. The same call then renames the file: after the server has confirmed the file, or within a day if
  /// the server states no strong validator.
  ///
  /// - Parameters:
  ///   - endpoint: an endpoint of any style whose response is a file. Downloads with methods other than GET cannot be
  ///     resumed.
  ///   - path: the path of the file. Its folder must exist. A file at the path is replaced only if the options permit
  ///     it. A link is never replaced.
  ///   - options: resuming, replacing and verification. Default: `DownloadOptions()`.
  /// - Throws: `CallError`. Its ``ApusCore/CallError/transfer`` contains the number of bytes that were kept. With the
  ///   code `refused`, nothing was sent, or the file could not be written; with `malformedResponse`, the server
  ///   contradicts itself or a digest.
  /// - Cancellation: the code is `cancelled`; the received bytes are kept.
  public func download<E: Endpoint>(
    _ endpoint: E, to path: String, options: DownloadOptions = DownloadOptions()
  ) async throws(CallError) -> DownloadedFile {
    try await download(endpoint.resolvedRequest, to: path, options, progress: { _, _ in })
  }

  /// Downloads the file at a path below the base URL, or at a complete URL as in
  /// `api.download(.url(link), to: path)`. See ``download(_:to:options:)-(E,_,_)``.
  ///
  /// - Throws: `CallError`.
  public func download(
    _ resource: RequestPath, to path: String, options: DownloadOptions = DownloadOptions()
  ) async throws(CallError) -> DownloadedFile {
    try await download(Request<Content>.get(resource), to: path, options, progress: { _, _ in })
  }

  /// Removes the incomplete file and the record of an interrupted download to a path, if they exist.
  ///
  /// - Throws: `CallError` with the code `refused`, for example while the download runs.
  public func discardDownload(to path: String) async throws(CallError) {
    do throws(TransferError) {
      try await PartialFile.discard(path)
    } catch {
      throw CallError(error.code ?? .refused, message: error.message, underlying: error)
    }
  }

  /// - Parameter progress: called with the number of bytes on disk, those of an earlier download included, and the
  ///   length of the file if it is known. In the last call the two numbers are equal.
  @concurrent
  package func download<Value>(
    _ request: Request<Value>, to path: String, _ options: DownloadOptions,
    progress: @escaping @Sendable (Int64, Int64?) -> Void
  ) async throws(CallError) -> DownloadedFile {
    // Reports the progress of the whole download instead of the progress of each exchange.
    var request = request.ofOnePrincipal
    let reporter = request.options.downloadProgress
    request.options.downloadProgress = nil
    let clock = runtime.clock
    do throws(CallError) {
      let file = try await file(of: request, at: path, options) { completed, total in
        progress(completed, total)
        reporter?.report(completed, of: total, at: clock.now)
      }
      reporter?.finish(isComplete: true)
      return file
    } catch {
      reporter?.finish(isComplete: false)
      throw error
    }
  }

  private func file<Value>(
    of request: Request<Value>, at path: String, _ options: DownloadOptions,
    progress: @escaping @Sendable (Int64, Int64?) -> Void
  ) async throws(CallError) -> DownloadedFile {
    let source = DownloadSource(try await message(for: request), options)
    let opened: OpenedDownload
    do throws(TransferError) {
      opened = try await OpenedDownload.open(path, options, source, request.downloadRules(options))
    } catch {
      throw failure(error.code ?? .refused, of: request, error, message: error.message)
    }
    // Releases the lock immediately, even if the file already has its final name.
    defer { opened.file.release() }
    var download = Download(self, request, opened, progress)
    return try await download.run()
  }
}
