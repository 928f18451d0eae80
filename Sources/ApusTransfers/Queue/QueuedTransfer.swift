#if Transfers
import ApusCore
import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transfer of a queue, with its locked record. Its state changes under a lock; what follows is up to the queue.
final class QueuedTransfer: Sendable {
  private struct Parts {
    var state: TransferState
    var record: TransferRecord
    var progress: TransferProgress
    /// The task that transfers.
    var run: Task<Void, Never>?
    /// Commands that wait until a change is stored.
    var waiters: [(change: Int, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func takeSettled() -> [CheckedContinuation<Void, Never>] {
      let settled = waiters.filter { state.isSettled($0.change) }
      waiters.removeAll { state.isSettled($0.change) }
      return settled.map(\.continuation)
    }
  }

  let description: TransferDescription
  /// When it was added, in milliseconds since 1970.
  let added: Int64
  private let stored: any LockedTransferRecord
  private let parts: Mutex<Parts>

  /// - Parameter isNew: whether the record has to be written first.
  init(_ record: TransferRecord, in stored: any LockedTransferRecord, isNew: Bool) {
    (description, added, self.stored) = (record.description, record.added, stored)
    let priority = CallPriority(rawValue: record.priority) ?? .low
    let state =
      isNew
      ? TransferState(priority: priority)
      : TransferState(
        continuing: record.isPaused ? .pause : .run, priority: priority, failure: record.failure.map(\.error))
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
  /// The complete file, if an earlier process was about to give it its name.
  var published: FileVersion? { parts.withLock { $0.record.published } }

  /// The transfer as the app sees it.
  var shown: Transfer {
    parts.withLock { Transfer(description, $0.state.priority, $0.state.shown, $0.progress) }
  }

  // MARK: State

  /// Changes the state, and cancels the run if the change asks for it.
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
    let (output, settled) = parts.withLock { parts in
      let output = change(&parts.state)
      return (output, parts.takeSettled())
    }
    for waiter in settled { waiter.resume() }
    return output
  }

  /// Waits until a change is stored, or the transfer is over.
  func settle(_ change: Int) async {
    await withCheckedContinuation { continuation in
      let isSettled = parts.withLock { parts in
        guard !parts.state.isSettled(change) else { return true }
        parts.waiters.append((change, continuation))
        return false
      }
      if isSettled { continuation.resume() }
    }
  }

  func report(_ progress: TransferProgress) {
    parts.withLock { $0.progress = progress }
  }

  /// Keeps the task that transfers, so that a command can cancel it.
  func begin(_ run: Task<Void, Never>) {
    let isStopping = parts.withLock { parts in
      parts.run = run
      return parts.state.isStopping
    }
    if isStopping { run.cancel() }
  }

  /// Waits until the task that transfers has ended.
  func finishRun() async {
    await parts.withLock { $0.run }?.value
    parts.withLock { $0.run = nil }
  }

  // MARK: The record

  /// Writes the record as it is now.
  ///
  /// - Parameter published: a complete file that is about to get its name.
  func store(published: FileVersion? = nil) async throws(TransferError) {
    let content = parts.withLock { parts in
      parts.record.isPaused = parts.state.goal == .pause
      parts.record.failure = parts.state.failure.map { TransferRecord.Failure($0) }
      parts.record.priority = parts.state.priority.rawValue
      (parts.record.completed, parts.record.total) = (parts.progress.completed, parts.progress.total)
      parts.record.published = published ?? parts.record.published
      return parts.record.encoded()
    }
    guard let content else { throw TransferError(.unusableEndpoint) }
    try await stored.write(content)
  }

  /// The file did not get its name.
  func clearPublished() {
    parts.withLock { $0.record.published = nil }
  }

  func remove() async throws(TransferError) {
    try await stored.write(nil)
  }

  func release() async {
    await stored.release()
  }
}
#endif
