public import ApusCore
public import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A queue of downloads and uploads that outlives the call and the process.
///
/// <!-- sample: transfers -->
/// ```swift
/// let transfers = try await Transfers(api, store: FileTransferStore("/var/lib/films/transfers"), account: "ada") {
///   $0.downloads(of: FilmFile.self) { film, file in print("Film \(film.id) is at \(file.path)") }
///   $0.uploads(of: Clip.self, by: .tus()) { clip, result in print(result.url ?? "") }
/// }
/// let id = try await transfers.download(FilmFile(id: 7), to: "/films/7.mp4")
/// for await list in transfers.updates {
///   for transfer in list { print(transfer.name, transfer.state, transfer.progress.fraction ?? 0) }
/// }
/// try await transfers.pause(id)
/// ```
///
/// Each transfer is an endpoint of a type that the app declares, and is stored before it starts. A new process that
/// creates its queue with the same store continues the waiting and running transfers in their order, and lists the
/// paused and failed transfers. Bytes already on the server or the disk are not transferred again.
///
/// The store contains the encoded values of the app's types, the path of a download's file and a hash of the account.
/// For an unfinished upload it also contains the URL of the upload, and the endpoint's URL without its query. For a
/// complete upload it contains ``UploadResult/url`` until the app is notified. The store contains no credentials.
///
/// A queue contains only the transfers of its account. All its calls must belong to that account: when another user signs
/// in, the transfers fail instead of being sent as that user. Close the queue when the user signs out.
///
/// A transfer belongs to one process at a time, and is hidden from other processes that use the same store. A transfer
/// whose call the app cancels by other means, such as a tag, is paused.
public final class Transfers: Sendable {
  private typealias Unusable = [String: TransferError]

  private struct State {
    var transfers: [Transfer.ID: QueuedTransfer] = [:]
    var isClosed = false
    var unusable: Unusable = [:]
    /// The time of the last added transfer, in milliseconds since 1970.
    var lastAdded: Int64 = 0
    var subscribers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastSubscriber = 0
  }

  let client: Client
  let store: FileTransferStore
  let account: String?
  let configuration: TransfersConfiguration
  let principal = CommonPrincipal()
  private let state = Mutex(State())
  /// Held while a transfer is added, so that concurrent calls do not add the same transfer twice.
  private let adding = AsyncMutex()

  /// Creates the queue of an account, and continues its stored transfers.
  ///
  /// - Parameters:
  ///   - client: the client of all transfers.
  ///   - store: the store of the transfers' descriptions and of the state of uploads.
  ///   - account: a name of the account whose transfers the queue contains, such as the user's identifier. Default:
  ///     `nil`, for clients without credentials only: another account that signs in would continue the transfers. The
  ///     store contains a hash of the name.
  ///   - configure: declares the endpoint types. A stored transfer whose type is not declared fails with the reason
  ///     `invalidRequest`.
  /// - Throws: `CallError` with the code `refused` if the store cannot be read; with `invalidRequest` if the client's
  ///   environment authenticates its calls and `account` is `nil`.
  public init(
    _ client: Client, store: FileTransferStore, account: String? = nil,
    _ configure: (inout TransfersConfiguration) -> Void
  ) async throws(CallError) {
    var configuration = TransfersConfiguration()
    configure(&configuration)
    (self.client, self.store, self.account, self.configuration) = (client, store, account, configuration)
    do throws(TransferError) {
      if account == nil, client.environment.values[CallBinderKey.self] != nil { throw TransferError(.accountMissing) }
      let (stored, unusable) = try await storedTransfers()
      state.withLock { state in
        for transfer in stored { state.transfers[transfer.id] = transfer }
        state.lastAdded = stored.last?.added ?? 0
        state.unusable = unusable
      }
      for transfer in stored { perform(transfer.change { $0.start() }, on: transfer) }
    } catch {
      throw Self.failure(error)
    }
  }

  // MARK: The list

  /// The transfers that are not complete, in the order in which they were added.
  public var all: [Transfer] { queued.map(\.snapshot) }

  /// The errors of the records that could not be read when the queue was created, by the names of the records.
  ///
  /// These records stay in the store. Each of them is a link or a folder in place of a record, a file that the process
  /// may not read, a damaged record, or a record of a newer version of the library.
  package var unusableRecords: [String: TransferError] { state.withLock { $0.unusable } }

  /// The transfer with an identifier; `nil` if it is complete, cancelled, unknown or of another account.
  public subscript(id: Transfer.ID) -> Transfer? { state.withLock { $0.transfers[id] }?.snapshot }

  /// The list of transfers, now and after each change of a state or a progress, as an asynchronous sequence.
  ///
  /// A loop that is slower than the changes receives the latest list only. The sequence ends when the queue is closed.
  public var updates: some AsyncSequence<[Transfer], Never> & Sendable {
    signals().map { [self] _ in all }
  }

  private var queued: [QueuedTransfer] {
    state.withLock { Array($0.transfers.values) }
      .sorted { ($0.added, $0.id.rawValue) < ($1.added, $1.id.rawValue) }
  }

  /// The number of loops over ``updates``.
  var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  private func signals() -> AsyncStream<Void> {
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.lastSubscriber += 1
      state.subscribers[state.lastSubscriber] = continuation
      return state.lastSubscriber
    }
    continuation.yield()
    guard let number else {
      continuation.finish()
      return signals
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.subscribers.removeValue(forKey: number) }
    }
    return signals
  }

  /// Notifies the subscribers that the list has changed.
  func signal() {
    for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.yield() }
  }

  // MARK: Adding

  /// Downloads a file. Returns when the transfer is stored.
  ///
  /// Adding a transfer that is already in the queue has no effect, except that a failed transfer starts again.
  ///
  /// - Parameters:
  ///   - endpoint: an endpoint of a type that the configuration declares for downloads.
  ///   - path: the path of the file, see ``ApusCore/Client/download(_:to:options:)-(E,_,_)``.
  ///   - priority: the priority of the transfer in the queue, and of its calls. Default: `low`, so that calls that a
  ///     user waits for come first.
  /// - Returns: the identifier of the transfer.
  /// - Throws: `CallError` with the code `refused` if the transfer cannot be stored, its type is not declared, or
  ///   another process has locked it.
  @discardableResult
  public func download<E: TransferEndpoint>(
    _ endpoint: E, to path: String, priority: CallPriority = .low
  ) async throws(CallError) -> Transfer.ID {
    try await add(.download, endpoint, to: path, priority)
  }

  /// Uploads the content (body) of an endpoint's request. Returns when the transfer is stored.
  ///
  /// Adding a transfer that is already in the queue has no effect, except that a failed transfer starts again. The
  /// encoded endpoint identifies a file, for example by its path.
  ///
  /// - Parameters:
  ///   - endpoint: an endpoint of a type that the configuration declares for uploads.
  ///   - priority: the priority of the transfer in the queue, and of its calls. Default: `low`.
  /// - Returns: the identifier of the transfer.
  /// - Throws: `CallError` with the code `refused`, as for downloads.
  @discardableResult
  public func upload<E: TransferEndpoint>(
    _ endpoint: E, priority: CallPriority = .low
  ) async throws(CallError) -> Transfer.ID {
    try await add(.upload, endpoint, to: nil, priority)
  }

  private func add<E: TransferEndpoint>(
    _ direction: Transfer.Direction, _ endpoint: E, to path: String?, _ priority: CallPriority
  ) async throws(CallError) -> Transfer.ID {
    do {
      let description: TransferDescription
      do {
        description = try TransferDescription(direction, endpoint, path: path, account: account)
      } catch {
        throw TransferError(.unusableEndpoint, underlying: error)
      }
      guard kind(of: description) != nil else { throw TransferError(.unusableEndpoint) }
      while let leaving = try await adding.withLock({ try await insert(description, priority) }) {
        await leaving.waitForChange(0)
      }
      return description.id
    } catch {
      throw Self.failure(error)
    }
  }

  /// Inserts a transfer. If an equal transfer is being removed, returns that transfer, which must leave the queue
  /// first.
  private func insert(
    _ description: TransferDescription, _ priority: CallPriority
  ) async throws(TransferError) -> QueuedTransfer? {
    let id = description.id
    if let present = state.withLock({ $0.transfers[id] }) {
      if present.isBeingRemoved { return present }
      if present.failure != nil { try await command(id) { $0.resume() } }
      return nil
    }
    let stored = try await store.lock(description.recordName)
    // The record may exist: another queue may have released it since this queue was created.
    let known = try? await Self.record(description.recordName, in: stored).get()
    let record = known ?? TransferRecord(description, added: nextAdded(), priority: priority)
    let transfer = QueuedTransfer(record, in: stored, isNew: known == nil)
    let isClosed = state.withLock { state in
      if !state.isClosed { state.transfers[transfer.id] = transfer }
      return state.isClosed
    }
    guard !isClosed else {
      await stored.release()
      throw TransferError(.closed)
    }
    if transfer.isBeingRemoved {
      // The other queue was about to remove the transfer.
      perform(transfer.change { $0.start() }, on: transfer)
      return transfer
    }
    try await performAndWait(transfer.change { $0.start() }, on: transfer)
    if transfer.failure != nil { try await command(id) { $0.resume() } }
    return nil
  }

  // MARK: Commands

  /// Pauses a transfer: cancels it, or removes it from the scheduler's queue. When this returns, the transfer has
  /// stopped, and it stays paused in later processes. The transferred bytes are kept.
  ///
  /// - Throws: `CallError` with the code `refused` if the queue has no such transfer or the store cannot be written.
  public func pause(_ id: Transfer.ID) async throws(CallError) {
    try await perform(id) { $0.pause() }
  }

  /// Continues a paused transfer, or starts a failed transfer again, at the end of the queue.
  ///
  /// - Throws: `CallError` as ``pause(_:)``.
  public func resume(_ id: Transfer.ID) async throws(CallError) {
    try await perform(id) { $0.resume() }
  }

  /// Cancels a transfer, and removes the transferred bytes: the incomplete file, or the incomplete upload on the
  /// server. A server that cannot be reached removes the upload when it expires. A transfer that completes meanwhile
  /// stays complete. If the process ends meanwhile, the next process removes the transfer.
  ///
  /// - Throws: `CallError` as ``pause(_:)``; the transfer is then paused.
  public func cancel(_ id: Transfer.ID) async throws(CallError) {
    try await perform(id) { $0.cancel() }
  }

  /// Changes the priority of a transfer that waits or will wait. The calls of a running transfer keep their priority.
  public func setPriority(_ priority: CallPriority, of id: Transfer.ID) {
    guard let transfer = state.withLock({ $0.transfers[id] }) else { return }
    perform(transfer.change { $0.prioritize(priority) }, on: transfer)
  }

  /// Waits until a transfer is complete.
  ///
  /// - Throws: the transfer's `CallError` when it fails; the code `cancelled` when the transfer or this task is
  ///   cancelled; `refused` when the queue is closed or has no such transfer.
  public func completion(of id: Transfer.ID) async throws(CallError) {
    guard let transfer = state.withLock({ $0.transfers[id] }) else {
      throw Self.failure(TransferError(.unknownTransfer))
    }
    for await _ in signals() {
      if let failure = transfer.failure { throw failure }
      if transfer.end != nil { break }
    }
    switch transfer.end {
    case .complete: return
    case .cancelled: throw CallError(.cancelled)
    case .closed, .notStored: throw Self.failure(TransferError(.closed))
    case nil: throw CallError(converting: CancellationError())
    }
  }

  /// Stops all transfers and releases the store; the next queue continues them. Later commands are refused.
  public func close() async {
    let transfers = state.withLock { state in
      state.isClosed = true
      return Array(state.transfers.values)
    }
    var changes: [(QueuedTransfer, Int)] = []
    for transfer in transfers {
      let effects = transfer.change { $0.close() }
      perform(effects, on: transfer)
      if let change = effects.change { changes.append((transfer, change)) }
    }
    for (transfer, change) in changes { await transfer.waitForChange(change) }
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers { subscriber.finish() }
  }

  private func perform(
    _ id: Transfer.ID, _ change: (inout TransferState) -> TransferState.Effects
  ) async throws(CallError) {
    do throws(TransferError) {
      try await command(id, change)
    } catch {
      throw Self.failure(error)
    }
  }

  private func command(
    _ id: Transfer.ID, _ change: (inout TransferState) -> TransferState.Effects
  ) async throws(TransferError) {
    let (transfer, isClosed) = state.withLock { ($0.transfers[id], $0.isClosed) }
    guard !isClosed else { throw TransferError(.closed) }
    guard let transfer else { throw TransferError(.unknownTransfer) }
    try await performAndWait(transfer.change(change), on: transfer)
  }

  private func performAndWait(
    _ effects: TransferState.Effects, on transfer: QueuedTransfer
  ) async throws(TransferError) {
    perform(effects, on: transfer)
    signal()
    guard let change = effects.change else { return }
    await transfer.waitForChange(change)
    if let failure = transfer.commandFailure { throw failure }
  }

  // MARK: Parts

  func kind(of description: TransferDescription) -> TransferKind? {
    configuration.kinds[TransferKind.Key(direction: description.direction, name: description.name)]
  }

  /// Removes a transfer that has left the queue from the list.
  func removeFromList(_ transfer: QueuedTransfer) {
    state.withLock { _ = $0.transfers.removeValue(forKey: transfer.id) }
    signal()
  }

  static func failure(_ error: any Error) -> CallError {
    guard let error = error as? TransferError else { return CallError(converting: error) }
    return CallError(error.code ?? .refused, message: error.message, underlying: error)
  }

  /// Returns the present time, or a later time if another transfer was just added: transfers are ordered by their
  /// times.
  private func nextAdded() -> Int64 {
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    return state.withLock { state in
      state.lastAdded = max(now, state.lastAdded + 1)
      return state.lastAdded
    }
  }

  /// Locks and reads the records of the account, in the order in which they were added. Skips records that another
  /// queue has locked.
  private func storedTransfers() async throws(TransferError) -> (transfers: [QueuedTransfer], unusable: Unusable) {
    var transfers: [QueuedTransfer] = []
    var unusable: Unusable = [:]
    let account = TransferDescription.hash(ofAccount: account)
    for name in try await store.names where name.hasPrefix(TransferDescription.recordPrefix) {
      do throws(TransferError) {
        let stored = try await store.lock(name)
        let record = await Self.record(name, in: stored)
        if case .success(let record) = record, record.description.account == account {
          transfers.append(QueuedTransfer(record, in: stored, isNew: false))
          continue
        }
        await stored.release()
        if case .failure(let error) = record { unusable[name] = error }
      } catch {
        // These errors affect the whole store.
        if [.diskFull, .readOnlyFileSystem].contains(error.problem) { throw error }
        if error.problem != .inUse { unusable[name] = error }
      }
    }
    return (transfers.sorted { ($0.added, $0.id.rawValue) < ($1.added, $1.id.rawValue) }, unusable)
  }

  private static func record(
    _ name: String, in stored: LockedTransferRecord
  ) async -> Result<TransferRecord, TransferError> {
    do throws(TransferError) {
      guard let record = try await stored.read().flatMap({ TransferRecord($0) }), record.description.recordName == name
      else { return .failure(TransferError(.unusableEndpoint)) }
      return .success(record)
    } catch {
      return .failure(error)
    }
  }
}
