import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An upload in progress. Performs the actions that its ``UploadState`` selects, and updates its record.
struct Upload {
  /// The end of an upload.
  struct End {
    /// The server's response to the complete content. `nil`: the response was lost.
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
  private let storeEnd: UploadPlace.StoreEnd
  private(set) var state: UploadState
  let progress: UploadProgress
  /// Whether all known parts on the server were sent by an earlier call.
  private var isResuming: Bool
  private var resumed: Int64 = 0

  /// - Parameter place: the record of the upload and its content.
  init(_ driver: any UploadDriver, _ calls: UploadCalls, _ place: UploadPlace, _ options: UploadOptions) {
    (self.driver, self.calls, record, storeEnd) = (driver, calls, place.record, place.storeEnd)
    let rules = UploadState.Rules(
      repeatsCreation: driver.repeatsCreation, restartsWhenGone: driver.restartsWhenGone,
      continuations: options.maximumContinuations)
    state = UploadState(length: calls.length, rules, continuing: place.stored?.ticket)
    isResuming = place.stored != nil
    progress = UploadProgress(of: calls)
  }

  /// Uploads the content, and removes the record.
  ///
  /// - Parameter finish: reads the result. The record still exists during this call unless the end is stored elsewhere.
  /// - Throws: `CallError`, whose cause is a ``TransferError``; the error of `finish`.
  mutating func run<Output>(_ finish: (End) async throws(CallError) -> Output) async throws(CallError) -> Output {
    let end = try await end()
    if await storeEnd(.success(CompleteUpload(url: end.url, size: calls.length))) { await removeRecord() }
    do throws(CallError) {
      let output = try await finish(end)
      await removeRecord()
      return output
    } catch {
      await removeRecord()
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

  /// Creates the upload. A ticket that arrives while content is still being sent is stored immediately.
  private mutating func create() async throws(CallError) -> UploadStep {
    isResuming = false
    let (tickets, announcements) = AsyncStream<UploadTicket>.makeStream()
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
          announcements.yield(ticket)
        })
    } catch {
      result = .failure(error)
    }
    announcements.finish()
    await saved
    if let ticket = latest.withLock({ $0 }) { state.announce(ticket) }
    return try result.get()
  }

  private static func save(
    _ ticket: UploadTicket, _ driver: any UploadDriver, _ calls: UploadCalls, to record: LockedTransferRecord?
  ) async throws(TransferError) {
    try await record?.write(UploadRecord(driver, calls, ticket).encoded())
  }

  // MARK: Results

  /// Returns the end of the upload, or `nil` if the upload continues.
  mutating func apply(_ step: UploadStep) async throws(CallError) -> End? {
    let isPossible: Bool
    switch step {
    case .created(let ticket, let parts):
      isPossible = state.create(ticket, parts)
      if isResuming { (resumed, isResuming) = (parts.count, false) }
      try await store(ticket)
    case .announced(let ticket):
      state.announce(ticket)
      isPossible = state.recordUnknownParts()
      try await store(ticket)
    case .stored(let parts):
      isPossible = state.next == .locate ? state.locate(parts) : state.send(parts)
      if isResuming { (resumed, isResuming) = (parts.count, false) }
    case .added(let part):
      var parts = state.stored
      isPossible = parts.insert(part) && state.send(parts)
    case .unsure: isPossible = state.recordUnknownParts()
    case .gone:
      guard state.startOver() else { throw await removeRecord(after: failure(TransferError(.uploadGone))) }
      await removeRecord()
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

  /// Removes the record. If the removal fails, the next call finds out from the server that the upload has ended.
  private func removeRecord() async {
    try? await record?.write(nil)
  }

  /// Removes the record of an upload that has ended with an error, and returns the error.
  private func removeRecord(after error: CallError) async -> CallError {
    _ = await storeEnd(.failure(error))
    await removeRecord()
    return error
  }

  // MARK: Failures

  /// Returns after a delay if the upload continues by itself.
  ///
  /// - Throws: the error of the upload if it ends.
  private mutating func prepareContinuation(after error: CallError) async throws(CallError) {
    let delay = error.retryAfter ?? .zero
    let isTemporary = Self.isTemporary(error, driver, exists: state.ticket != nil) && delay <= Self.maximumDelay
    guard let number = state.recordInterruption(isTemporary: isTemporary) else {
      // An error of the driver itself is already complete.
      if let cause = error.transfer, cause.problem != .interrupted, error.requestState == .notSent { throw error }
      let explained = error.explained(by: kept(TransferError(of: error)))
      // An upload that the server has judged as complete content, or whose URL is refused, cannot continue.
      let isOver = driver.isFinal(error) || error.underlying is DowngradeRefusal
      throw isOver ? await removeRecord(after: explained) : explained
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

  /// Whether the same request may succeed later: the connection was lost, a transfer stalled, or the server was
  /// temporarily unavailable.
  ///
  /// - Parameter exists: whether the upload exists on the server.
  static func isTemporary(_ error: CallError, _ driver: any UploadDriver, exists: Bool) -> Bool {
    guard !driver.isFinal(error) else { return false }
    if error.code == .rejected, let status = error.status {
      return temporaryStatuses.contains(status) || (exists && driver.isTemporary(status))
    }
    // After a success that arrived before all content was sent, the upload requests the list of parts from the server.
    let isInterruption = error.isTemporaryInterruption || error.isIncompleteRequest
    return (isInterruption && !error.comesFromContent) || error.code == .connectionFailed
  }

  /// The statuses of temporary rejections. A server responds with 423 while another request of this upload, such as an
  /// interrupted request, is still running on the server.
  private static let temporaryStatuses: Set<Int> = [408, 423, 425, 429, 500, 502, 503, 504]
  /// The maximum delay in `Retry-After` that the upload waits for.
  static let maximumDelay = Duration.seconds(60)

  private func kept(_ error: TransferError) -> TransferError {
    error.keeping(state.ticket == nil ? 0 : state.stored.count, of: calls.length)
  }

  private func failure(_ cause: TransferError) -> CallError {
    calls.client.failure(cause.code ?? .cancelled, of: calls.request, cause, message: cause.message)
  }
}

/// The stored state of an upload when a call begins.
struct UploadPlace {
  /// The locked record of the upload. `nil`: the upload is not stored.
  var record: LockedTransferRecord?
  /// The content of the record, if the upload can continue from it.
  var stored: UploadRecord?
  /// The upload on the server that can be cancelled but not continued, because its content has changed.
  var abandoned: UploadTicket?
  /// Stores the end of the upload elsewhere before the record is removed, so that no other process starts the upload
  /// again. Returns whether the end is stored. Default: the end is not stored elsewhere.
  var storeEnd: StoreEnd = { _ in false }

  typealias StoreEnd = @Sendable (Result<CompleteUpload, CallError>) async -> Bool
}
