import ApusCore
import ApusFiles
import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transfer of a queue, with its locked record. Its state changes under a lock; the queue performs the resulting
/// actions.
final class QueuedTransfer: Sendable {
  private struct Parts {
    var state: TransferState
    var record: TransferRecord
    var progress: TransferProgress
    /// The task that performs the transfer.
    var run: Task<Void, Never>?
    /// Commands that wait until a change is stored.
    var waiters: [(change: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Returns the record with the present state.
    ///
    /// - Parameter hasEnded: whether all content is transferred. The record then ignores a later pause or cancellation.
    func currentRecord(hasEnded: Bool = false) -> TransferRecord {
      var record = record
      (record.isPaused, record.isCancelled) = (!hasEnded && state.goal == .pause, !hasEnded && state.goal == .cancel)
      record.failure = state.failure.map { TransferRecord.Failure($0) }
      record.priority = state.priority.level
      (record.completed, record.total) = (progress.completed, progress.total)
      return record
    }

    mutating func takeFinishedWaiters() -> [CheckedContinuation<Void, Never>] {
      let finished = waiters.filter { state.isDone($0.change) }
      waiters.removeAll { state.isDone($0.change) }
      return finished.map(\.continuation)
    }
  }

  let description: TransferDescription
  /// The time at which the transfer was added, in milliseconds since 1970.
  let added: Int64
  private let stored: LockedTransferRecord
  private let parts: Mutex<Parts>

  /// - Parameter isNew: whether the record does not exist yet, so that it is written first.
  init(_ record: TransferRecord, in stored: LockedTransferRecord, isNew: Bool) {
    (description, added, self.stored) = (record.description, record.added, stored)
    let priority = CallPriority(level: record.priority) ?? .low
    let state =
      isNew
      ? TransferState(priority: priority)
      : TransferState(
        continuing: record.isCancelled == true ? .cancel : record.isPaused ? .pause : .run, priority: priority,
        failure: record.failure.map(\.error))
    let progress = TransferProgress(completed: record.completed, total: record.total)
    parts = Mutex(Parts(state: state, record: record, progress: progress))
  }

  var id: Transfer.ID { description.id }
  var priority: CallPriority { parts.withLock { $0.state.priority } }
  var end: TransferState.End? { parts.withLock { $0.state.end } }
  var failure: CallError? { parts.withLock { $0.state.failure } }
  /// Whether a cancelled transfer is being removed.
  var isBeingRemoved: Bool { parts.withLock { $0.state.isBeingRemoved } }
  /// The error of the last command.
  var commandFailure: TransferError? { parts.withLock { $0.state.commandFailure } }
  /// The complete file, if an earlier process was about to give it its final name.
  var published: FileVersion? { parts.withLock { $0.record.published } }
  /// The complete upload, if an earlier process could not notify the app.
  var uploaded: CompleteUpload? { parts.withLock { $0.record.uploaded } }

  /// The transfer as the app sees it.
  var snapshot: Transfer {
    parts.withLock { Transfer(description, $0.state.priority, $0.state.publicState, $0.progress) }
  }

  // MARK: State

  /// Changes the state, and cancels the running task if the change requires it.
  func change(_ command: (inout TransferState) -> TransferState.Effects) -> TransferState.Effects {
    let (effects, run) = parts.withLock { parts in
      let effects = command(&parts.state)
      return (effects, effects.stopsRun ? parts.run : nil)
    }
    run?.cancel()
    return effects
  }

  /// Changes the state after an action, and resumes the commands whose change is stored.
  @discardableResult
  func update<Output: Sendable>(_ change: (inout TransferState) -> Output) -> Output {
    let (output, finished) = parts.withLock { parts in
      let output = change(&parts.state)
      return (output, parts.takeFinishedWaiters())
    }
    for waiter in finished { waiter.resume() }
    return output
  }

  /// Waits until a change is stored, or the transfer has left the queue.
  func waitForChange(_ change: Int) async {
    await withCheckedContinuation { continuation in
      let isDone = parts.withLock { parts in
        guard !parts.state.isDone(change) else { return true }
        parts.waiters.append((change, continuation))
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  func report(_ progress: TransferProgress) {
    parts.withLock { $0.progress = progress }
  }

  /// Stores the task that performs the transfer, so that a command can cancel it.
  func begin(_ run: Task<Void, Never>) {
    let isStopping = parts.withLock { parts in
      parts.run = run
      return parts.state.isStopping
    }
    if isStopping { run.cancel() }
  }

  /// Waits until the task that performs the transfer has ended.
  func finishRun() async {
    await parts.withLock { $0.run }?.value
    parts.withLock { $0.run = nil }
  }

  // MARK: The record

  /// Writes the record with the present state.
  func store() async throws(TransferError) {
    try await write(parts.withLock { $0.currentRecord() })
  }

  /// Stores that a complete file is about to get its final name.
  func store(published: FileVersion) async throws(TransferError) {
    let record = parts.withLock { parts in
      parts.record.published = published
      return parts.currentRecord(hasEnded: true)
    }
    try await write(record)
  }

  /// Stores the end of an upload. Returns whether it is stored.
  func store(_ end: Result<CompleteUpload, CallError>) async -> Bool {
    var record = parts.withLock { $0.currentRecord(hasEnded: true) }
    switch end {
    case .success(let uploaded): record.uploaded = uploaded
    case .failure(let error): record.failure = TransferRecord.Failure(error)
    }
    do throws(TransferError) {
      try await write(record)
    } catch _ {
      return false
    }
    parts.withLock { [uploaded = record.uploaded] in $0.record.uploaded = uploaded }
    return true
  }

  /// Removes the completion from the next record.
  func clearEnd() {
    parts.withLock { ($0.record.published, $0.record.uploaded) = (nil, nil) }
  }

  private func write(_ record: TransferRecord) async throws(TransferError) {
    guard let content = record.encoded() else { throw TransferError(.unusableEndpoint) }
    try await stored.write(content)
  }

  func remove() async throws(TransferError) {
    try await stored.write(nil)
  }

  func release() async {
    await stored.release()
  }
}
