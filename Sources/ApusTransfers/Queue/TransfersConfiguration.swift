public import ApusCore
public import ApusMiddleware

/// The configuration of ``Transfers``: the declared endpoint types and the scheduler.
///
/// The closures may use the queue, for example to add transfers, but must not await ``Transfers/close()``.
public struct TransfersConfiguration: Sendable {
  /// The scheduler of the transfers. Its limits, its order and its paused tags apply to whole transfers. Default: a
  /// scheduler that runs 3 transfers at a time.
  ///
  /// The origin of a transfer is the origin of the client's base URL, so a limit per origin matters if several queues
  /// share a scheduler. The calls of a transfer are scheduled by the client's own scheduler, too.
  public var scheduler = Scheduler(ConcurrencyLimits(global: 3, perOrigin: 3))
  /// The tag of the transfers in ``scheduler``. Default: `nil`.
  public var tag: Tag?
  var kinds: [TransferKind.Key: TransferKind] = [:]

  init() {}

  /// Declares an endpoint type whose files are downloaded.
  ///
  /// - Parameters:
  ///   - type: the type.
  ///   - whenComplete: called when a file is complete and has its final name, also for transfers of an earlier process.
  ///     If the process ends before the closure returns, the next process calls the closure again. The transfer
  ///     occupies its permit of the scheduler until the closure returns. Default: does nothing.
  public mutating func downloads<E: TransferEndpoint>(
    of type: E.Type, whenComplete: @escaping @Sendable (E, DownloadedFile) async -> Void = { _, _ in }
  ) {
    kinds[TransferKind.Key(direction: .download, name: E.transferName)] = TransferKind(
      downloading: type, whenComplete)
  }

  /// Declares an endpoint type whose content (body) is uploaded.
  ///
  /// - Parameters:
  ///   - type: the type. The content of its request has a known length and can be read several times.
  ///   - uploadProtocol: the protocol that the server supports. For a server that supports neither protocol, use
  ///     `.ietf()`: it sends an ordinary request, which cannot be resumed. If the process ends before the response has
  ///     arrived, the next process sends the request again.
  ///   - whenComplete: called with the result, also for transfers of an earlier process. If the process ends before the
  ///     closure returns, the next process does not send the content again, and calls the closure with the value of an
  ///     empty response. If the endpoint has no such value, the transfer fails with the reason `responseLost`, and is
  ///     sent again if it is resumed. The transfer occupies its permit of the scheduler until the closure returns.
  ///     Default: does nothing.
  public mutating func uploads<E: TransferEndpoint>(
    of type: E.Type, by uploadProtocol: UploadProtocol,
    whenComplete: @escaping @Sendable (E, UploadResult<E.Value>) async -> Void = { _, _ in }
  ) {
    kinds[TransferKind.Key(direction: .upload, name: E.transferName)] = TransferKind(
      uploading: type, by: uploadProtocol, whenComplete)
  }
}
