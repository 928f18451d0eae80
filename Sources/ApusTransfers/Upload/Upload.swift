import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The place where an upload is stored.
struct UploadPlace {
  /// The record of the upload, locked. `nil`: it is not stored.
  var record: LockedTransferRecord?
  /// The content of the record, if the upload can continue from it.
  var stored: UploadRecord?
  /// The upload on the server, if it cannot continue because its content has changed, and can be cancelled.
  var abandoned: UploadTicket?
  /// Stores the end of the upload elsewhere before the record is removed, so that no process takes the upload for one
  /// that has not begun. Returns whether it is stored. Default: there is no other place.
  var noteEnd: NoteEnd = { _ in false }

  typealias NoteEnd = @Sendable (Result<CompleteUpload, CallError>) async -> Bool
}

/// An upload in progress: performs the actions that its ``UploadState`` selects, and keeps its record.
struct Upload {
  /// The end of an upload.
  struct End {
    /// The server's response to the complete content. `nil`: it was lost.
    let response: Response<Content>?
    let ticket: UploadTicket?
    /// The number of bytes that an earlier call had sent.
    let resumed: Int64

    /// The `Location` of the response, or else the URL of the upload.
    var url: String? {
      let last = response.flatMap { UploadTicket(in: $0.fields, relativeTo: $0.url) }
      return (last ?? ticket)?.location
    }
  }

  let driver: any UploadDriver
  let calls: UploadCalls
  private let record: LockedTransferRecord?
  private let noteEnd: UploadPlace.NoteEnd
  private(set) var state: UploadState
  let progress: UploadProgress
  /// Whether the server's parts come from an earlier call, as long as none was sent by this one.
  private var isResuming: Bool
  private var resumed: Int64 = 0

  /// - Parameter place: the record of the upload.
  init(_ driver: any UploadDriver, _ calls: UploadCalls, _ place: UploadPlace, _ options: UploadOptions) {
    (self.driver, self.calls, record, noteEnd) = (driver, calls, place.record, place.noteEnd)
    let rules = UploadState.Rules(
      repeatsCreation: driver.repeatsCreation, restartsWhenGone: driver.restartsWhenGone,
      continuations: options.maximumContinuations)
    state = UploadState(length: calls.length, rules, continuing: place.stored?.ticket)
    isResuming = place.stored != nil
    progress = UploadProgress(of: calls)
  }

  /// Uploads the content, and removes the record.
  ///
  /// - Parameter finish: reads the result. The record still exists if nothing else says that the upload is complete.
  /// - Throws: `CallError`, whose cause is a ``TransferError``; the error of `finish`.
  mutating func run<Output>(_ finish: (End) async throws(CallError) -> Output) async throws(CallError) -> Output {
    let end = try await end()
    if await noteEnd(.success(CompleteUpload(url: end.url, size: calls.length))) { await forget() }
    do throws(CallError) {
      let output = try await finish(end)
      await forget()
      return output
    } catch {
      await forget()
      throw error
    }
  }

  private mutating func end() async throws(CallError) -> End {
    while true {
      let step: UploadStep
      do throws(CallError) {
        if driver.maximumParallelParts > 1, let ticket = state.ticket, case .send = state.next {
          step = try await sendParts(of: ticket)
        } else {
          step = try await perform(state.next)
        }
      } catch {
        try await prepareContinuation(after: error)
        continue
      }
      if let end = try await apply(step) { return end }
    }
  }

  // MARK: Actions

  private mutating func perform(_ action: UploadState.Action) async throws(CallError) -> UploadStep {
    guard let ticket = state.ticket else { return try await create() }
    switch action {
    case .create: return .unsure
    case .locate: return try await driver.locate(ticket, calls)
    case .send(let part): return try await driver.send(part, of: ticket, calls)
    case .finish: return try await driver.finish(state.stored, of: ticket, calls)
    }
  }

  /// Creates the upload. Its ticket may come while the call still sends content, and is stored at once.
  private mutating func create() async throws(CallError) -> UploadStep {
    isResuming = false
    let (tickets, noted) = AsyncStream<UploadTicket>.makeStream()
    let latest = Mutex<UploadTicket?>(nil)
    let (driver, calls, record) = (driver, calls, record)
    async let saved: Void = {
      for await ticket in tickets {
        guard (try? await calls.check(ticket)) != nil else { continue }
        try? await Self.save(ticket, driver, calls, to: record)
      }
    }()
    let result: Result<UploadStep, CallError>
    do throws(CallError) {
      result = .success(
        try await driver.create(calls) { ticket in
          latest.withLock { $0 = ticket }
          noted.yield(ticket)
        })
    } catch {
      result = .failure(error)
    }
    noted.finish()
    await saved
    if let ticket = latest.withLock({ $0 }) { state.note(ticket) }
    return try result.get()
  }

  private static func save(
    _ ticket: UploadTicket, _ driver: any UploadDriver, _ calls: UploadCalls, to record: LockedTransferRecord?
  ) async throws(TransferError) {
    try await record?.write(UploadRecord(driver, calls, ticket).encoded())
  }

  // MARK: Results

  /// Returns the end of the upload, or `nil` if it goes on.
  mutating func apply(_ step: UploadStep) async throws(CallError) -> End? {
    let isPossible: Bool
    switch step {
    case .created(let ticket, let parts):
      isPossible = state.create(ticket, parts)
      if isResuming { (resumed, isResuming) = (parts.count, false) }
      try await store(ticket)
    case .announced(let ticket):
      state.note(ticket)
      isPossible = state.doubt()
      try await store(ticket)
    case .stored(let parts):
      isPossible = state.next == .locate ? state.locate(parts) : state.send(parts)
      if isResuming { (resumed, isResuming) = (parts.count, false) }
    case .added(let part):
      var parts = state.stored
      isPossible = parts.insert(part) && state.send(parts)
    case .unsure: isPossible = state.doubt()
    case .gone:
      guard state.lose() else { throw await forget(after: failure(TransferError(.uploadGone))) }
      await forget()
      return nil
    case .complete(let response):
      if isResuming { resumed = calls.length }
      progress.reach(calls.length)
      return End(response: response, ticket: state.ticket, resumed: resumed)
    case .fail(let reason):
      throw failure(kept(TransferError(reason)))
    }
    guard isPossible else { throw failure(kept(TransferError(.unusableOffset))) }
    progress.reach(state.stored.count)
    return nil
  }

  private func store(_ ticket: UploadTicket) async throws(CallError) {
    do throws(TransferError) {
      try await Self.save(ticket, driver, calls, to: record)
    } catch {
      throw failure(error)
    }
  }

  /// Removes the record. If that fails, the next call finds out from the server that the upload is over.
  private func forget() async {
    try? await record?.write(nil)
  }

  /// Removes the record of an upload that has ended with an error, and returns the error.
  private func forget(after error: CallError) async -> CallError {
    _ = await noteEnd(.failure(error))
    await forget()
    return error
  }

  // MARK: Failures

  /// Returns after a delay if the upload continues by itself.
  ///
  /// - Throws: the error of the upload if it ends.
  private mutating func prepareContinuation(after error: CallError) async throws(CallError) {
    let delay = error.retryAfter ?? .zero
    let isTemporary = Self.isTemporary(error, driver, exists: state.ticket != nil) && delay <= Self.longestDelay
    guard let number = state.interrupt(isTemporary: isTemporary) else {
      // A driver's own error is already complete.
      if let cause = error.transfer, cause.problem != .interrupted, error.requestState == .notSent { throw error }
      let explained = error.explained(by: kept(TransferError(of: error)))
      // After the server's response to complete content there is nothing to continue, nor at a URL that is refused.
      let isOver = driver.isFinal(error) || error.underlying is DowngradeRefusal
      throw isOver ? await forget(after: explained) : explained
    }
    let runtime = calls.client.runtime
    let backoff = Backoff.delay(before: number, random: runtime.random())
    do {
      try await runtime.clock.sleep(until: runtime.clock.now.advanced(by: max(delay, backoff)))
    } catch {
      var error = failure(kept(TransferError(.interrupted)))
      error.cancellation = .caller
      throw error
    }
  }

  /// Whether the same request may succeed: the connection was lost, a transfer stalled, or the server was not able or
  /// not willing for a moment.
  ///
  /// - Parameter exists: whether the upload exists on the server.
  static func isTemporary(_ error: CallError, _ driver: any UploadDriver, exists: Bool) -> Bool {
    guard !driver.isFinal(error) else { return false }
    if error.code == .rejected, let status = error.status {
      return temporaryStatuses.contains(status) || (exists && driver.isTemporary(status))
    }
    // After a success that came before all content was sent, the server is asked what it has.
    let isInterruption = error.isTemporaryInterruption || error.isIncompleteRequest
    return (isInterruption && !error.comesFromContent) || error.code == .connectionFailed
  }

  /// 423: another request of this upload is still running on the server, such as the one that was interrupted.
  private static let temporaryStatuses: Set<Int> = [408, 423, 425, 429, 500, 502, 503, 504]
  /// The longest delay that a server may ask for.
  static let longestDelay = Duration.seconds(60)

  private func kept(_ error: TransferError) -> TransferError {
    error.keeping(state.ticket == nil ? 0 : state.stored.count, of: calls.length)
  }

  private func failure(_ cause: TransferError) -> CallError {
    calls.client.failure(cause.code ?? .cancelled, of: calls.request, cause, message: cause.message)
  }
}
