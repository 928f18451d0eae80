import ApusCore
import HTTPTypes

extension Download {
  /// The maximum number of ranges that are requested concurrently.
  static var maximumLanes: Int { 16 }

  // MARK: Starting

  /// Sends the next request. If its response permits ranges, sends further requests at the same time, and returns when
  /// all of them have ended.
  mutating func exchangeInParallel() async throws(CallError) -> Outcome {
    if let gapped {
      let lanes = try await lanesForGaps(between: gapped)
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<lanes.laneCount { group.addTask { await lanes.run(lane) } }
        for await _ in group where lanes.hasEnded { group.cancelAll() }
      }
      return .split(lanes)
    }
    let (download, result) = await firstExchange()
    self = download
    return try result.get()
  }

  /// Sends a request in a separate task. Its response may start further lanes. Returns the download in its state after
  /// the exchange.
  private func firstExchange() async -> (Download, Result<Outcome, CallError>) {
    let (starts, start) = AsyncStream<ParallelDownload<Value>>.makeStream()
    var download = self
    download.start = start
    let initial = download
    return await withTaskGroup(of: (Download, Result<Outcome, CallError>)?.self) { group in
      group.addTask { await initial.firstLane() }
      var iterator = starts.makeAsyncIterator()
      let lanes = await iterator.next()
      for lane in 1..<max(lanes?.laneCount ?? 1, 1) {
        group.addTask {
          await lanes?.run(lane)
          return nil
        }
      }
      var first: (Download, Result<Outcome, CallError>)?
      for await ended in group {
        first = first ?? ended
        if lanes?.hasEnded == true { group.cancelAll() }
      }
      return first ?? (initial, .failure(initial.failure(TransferError(.interrupted))))
    }
  }

  private func firstLane() async -> (Download, Result<Outcome, CallError>) {
    var download = self
    var result: Result<Outcome, CallError>
    var continues = true
    do throws(CallError) {
      result = .success(try await download.exchangeOnce())
    } catch {
      result = .failure(error)
      if let lanes = download.lanes { continues = await lanes.recover(0, from: error) }
    }
    if let lanes = download.lanes {
      if continues { await lanes.run(0) }
      result = .success(.split(lanes))
    }
    download.start?.finish()
    download.start = nil
    return (download, result)
  }

  /// Prepares the lanes that fill the gaps of an earlier download.
  private mutating func lanesForGaps(between present: ByteRanges) async throws(CallError) -> ParallelDownload<Value> {
    var cause = TransferError(.unusableRange)
    do throws(TransferError) {
      let total = state.representation?.total ?? 0
      if let reason = state.excess(of: total) { throw TransferError(reason) }
      try await checkSpace(for: total - present.count, emptying: false)
      if let lanes = lanes(for: present) {
        self.lanes = lanes
        return lanes
      }
    } catch {
      cause = error
    }
    throw failure(cause.keeping(present.count, of: state.representation?.total))
  }

  private func lanes(for present: ByteRanges, until contentEnd: Int64? = nil) -> ParallelDownload<Value>? {
    let rules = RangeState.Rules(
      lanes: laneLimit, minimum: options.minimumRange, continuations: options.maximumContinuations)
    guard let representation = state.representation, let record,
      var ranges = RangeState(rules, representation, present: present)
    else { return nil }
    // The response in progress belongs to lane 0. A download with one range has no lanes.
    if let contentEnd {
      guard ranges.laneCount > 1 else { return nil }
      ranges.adopt(until: contentEnd)
    }
    let log = RangeLog(resources, record, present: present)
    return ParallelDownload(client, request.identity, resources, (ranges, log, progress))
  }

  /// Starts further lanes beside a response, if enough bytes are missing and the server may support ranges.
  ///
  /// - Parameter contentEnd: the offset at which the response's content (body) ends.
  mutating func split(
    _ head: HTTPResponse, until contentEnd: Int64?
  ) async throws(TransferError) -> ParallelDownload<Value>? {
    guard let start, let contentEnd, state.isResumable, !head.refusesRanges,
      let lanes = lanes(for: ByteRanges([0..<state.kept]), until: contentEnd)
    else { return nil }
    let log = lanes.log
    // Replaces the record of a file without gaps, because such a record relies on the length of the file.
    try await queues.writes.run { try log.checkpoint() }
    // Ranges do not arrive in order, so the complete file is hashed at the end.
    digests = DigestStream([])
    self.lanes = lanes
    start.yield(lanes)
    return lanes
  }

  mutating func write(
    _ response: inout StreamedResponse, on lanes: ParallelDownload<Value>, _ part: PartDigests?
  ) async throws -> Outcome {
    try await lanes.write(&response, from: state.kept, on: 0, with: part)
    return .split(lanes)
  }

  // MARK: Ending

  /// Returns the head of the last response if all bytes are on disk, or `nil` if the download continues with one range.
  ///
  /// - Throws: the error of the download if it ends.
  mutating func end(_ lanes: ParallelDownload<Value>) async throws(CallError) -> HTTPResponse? {
    // Waits for a running checkpoint, which would otherwise write a record after the download has ended.
    _ = try? await queues.checkpoints.run {}
    progress = lanes.progress
    let log = lanes.log
    let representation = lanes.representation
    state.adopt(representation, kept: log.present.prefix)
    switch lanes.end {
    case .complete:
      try await cut(log, to: state.kept)
      return lanes.head ?? HTTPResponse(status: .partialContent)
    case .sequential:
      resumed = min(resumed, state.kept)
      try await cut(log, to: state.kept)
    case .startOver:
      (self.lanes, gapped, resumed) = (nil, nil, 0)
      if case .fail(let reason) = state.discardChangedFile() {
        throw failure(await secureBytes(after: TransferError(reason)))
      }
    case .failed, nil:
      guard let error = lanes.failure else { throw failure(await secureBytes(after: TransferError(.interrupted))) }
      throw error.explained(by: await secureBytes(after: TransferError(of: error)))
    }
    // The server does not serve several ranges of this file.
    (self.lanes, gapped, laneLimit) = (nil, nil, 1)
    return nil
  }

  /// Removes all bytes except those before the first gap.
  private mutating func cut(_ log: RangeLog, to length: Int64) async throws(CallError) {
    let (file, record) = (file, record)
    do throws(TransferError) {
      try await queues.writes.run {
        // Done first: a process killed after this step loses no bytes.
        try log.checkpoint()
        guard let record else { return }
        try file.cut(to: length, record)
      }
    } catch {
      throw failure(await secureBytes(after: error))
    }
    (lanes, gapped) = (nil, nil)
  }

  /// Flushes the bytes of several ranges, or removes them if no download can continue from them. Returns the error with
  /// the number of kept bytes.
  func secureBytes(of log: RangeLog, after error: TransferError) async -> TransferError {
    let (file, total) = (file, state.representation?.total)
    let kept = log.present.count
    guard error.problem != .digestMismatch, !file.hasLostContent, kept > 0 else {
      _ = try? await queues.writes.run { file.remove() }
      return error.keeping(0, of: total)
    }
    // On a full disk the old record remains, and the table describes the same bytes.
    _ = try? await queues.writes.run { try log.checkpoint() }
    return error.keeping(file.hasLostContent ? 0 : kept, of: total)
  }
}

extension HTTPResponse {
  /// Whether the server states that it does not support ranges (RFC 9110 §14.3).
  fileprivate var refusesRanges: Bool {
    headerFields[.acceptRanges]?.lowercased() == "none"
  }
}
