import ApusCore
import ApusFiles
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A download in progress. Sends the requests that its ``DownloadState`` selects, and writes the received bytes.
struct Download<Value: Sendable> {
  /// The step after an exchange.
  enum Outcome {
    case complete(HTTPResponse)
    case next
    /// Several ranges were requested concurrently, and have ended.
    case split(ParallelDownload<Value>)
  }

  let client: Client
  let request: Request<Value>
  let options: DownloadOptions
  let source: DownloadSource
  let file: PartialFile
  let queues: ContentWriter.Queues
  var state: DownloadState
  var progress: ProgressCount
  /// The digests over all written bytes.
  var digests = DigestStream([])
  /// The number of bytes of an earlier download that this download still uses.
  var resumed: Int64
  /// The ranges on disk, if they are not contiguous.
  var gapped: ByteRanges?
  /// The maximum number of ranges that are requested concurrently.
  var laneLimit: Int
  /// The lanes of a download with several ranges. `nil`: one range is requested.
  var lanes: ParallelDownload<Value>?
  var start: AsyncStream<ParallelDownload<Value>>.Continuation?

  init(
    _ client: Client, _ request: Request<Value>, _ opened: OpenedDownload, _ progress: @escaping ProgressCount.Report
  ) {
    (self.client, self.request, options, source) = (client, request, opened.options, opened.source)
    (file, queues, state, gapped) = (opened.file, opened.queues, opened.state, opened.gapped)
    resumed = opened.gapped?.count ?? opened.state.kept
    laneLimit = request.permitsSiblings ? min(max(opened.options.maximumParallelRanges, 1), Self.maximumLanes) : 1
    self.progress = ProgressCount(progress)
  }

  /// Downloads the file and gives it its final name.
  mutating func run() async throws(CallError) -> DownloadedFile {
    do throws(TransferError) {
      try await hashKeptBytes()
    } catch {
      throw failure(error.keeping(state.kept, of: state.representation?.total))
    }
    if state.isComplete {
      if let reason = state.excess(of: state.kept) {
        throw failure(TransferError(reason, keptBytes: state.kept, total: state.kept))
      }
      return try await finish(HTTPResponse(status: .ok))
    }
    while true {
      let outcome: Outcome
      do throws(CallError) {
        outcome = try await exchange()
      } catch {
        try await prepareContinuation(after: error)
        continue
      }
      switch outcome {
      case .complete(let head): return try await finish(head)
      case .next: continue
      case .split(let lanes): if let head = try await end(lanes) { return try await finish(head) }
      }
    }
  }

  // MARK: Exchanges

  private mutating func exchange() async throws(CallError) -> Outcome {
    if laneLimit > 1 || gapped != nil { return try await exchangeInParallel() }
    return try await exchangeOnce()
  }

  mutating func exchangeOnce() async throws(CallError) -> Outcome {
    var request = request.identity
    if case .rest(let offset, let validator) = state.next() {
      request = request.range("\(offset)-", ifRange: validator)
    }
    let client = client
    return try await client.withResponse(to: request) { response in try await receive(&response) }
  }

  private mutating func receive(_ response: inout StreamedResponse) async throws -> Outcome {
    switch state.receive(response.head, isDecoded: response.isDecoded) {
    case .writeWhole(let length):
      try await checkSpace(for: length, emptying: true)
      try await restart()
      if let lanes = try await split(response.head, until: length) { return try await write(&response, on: lanes, nil) }
      return try await write(&response, with: nil)
    case .append(let offset, let length):
      try await checkSpace(for: length, emptying: false)
      progress.reach(offset, of: state.representation?.total)
      let part = PartDigests(DigestField.content.digests(in: response.head.headerFields))
      if let lanes = try await split(response.head, until: offset + length) {
        return try await write(&response, on: lanes, part)
      }
      return try await write(&response, with: part)
    case .skip(let offset, let length):
      try await checkSpace(for: length, emptying: false)
      progress.reach(offset, of: state.representation?.total)
      return try await write(&response, with: nil, skipping: offset)
    case .complete: return .complete(response.head)
    case .requestWhole: return .next
    case .fail(let reason): throw TransferError(reason)
    }
  }

  /// - Parameters:
  ///   - part: the digests of the content (body), if it is a part of the file.
  ///   - skipped: the number of the content's first bytes that are already on disk.
  private mutating func write(
    _ response: inout StreamedResponse, with part: PartDigests?, skipping skipped: Int64 = 0
  ) async throws -> Outcome {
    let streams = [digests] + (part.map { [$0.stream] } ?? [])
    var writer = ContentWriter(
      resources, from: state.kept, digests: streams, recording: record.map { .prefix($0) } ?? .none)
    var (isTooLong, skipped) = (false, skipped)
    do {
      while var piece = try await response.next() {
        if skipped > 0 {
          let count = min(skipped, Int64(piece.count))
          skipped -= count
          piece = piece.dropFirst(Int(count))
          if piece.isEmpty { continue }
        }
        if let reason = state.excess(at: writer.offset + Int64(piece.count)) {
          isTooLong = part != nil && reason == .wrongLength
          guard isTooLong else { throw TransferError(reason) }
          break
        }
        try await writer.append(piece)
        progress.reach(writer.offset, of: state.representation?.total)
      }
      if !isTooLong { try await writer.finish() }
    } catch {
      // Keeps the bytes received before the error.
      _ = try? await writer.finish()
      state.reach(writer.written)
      throw error
    }
    if isTooLong { return try await discardPart(writer) }
    state.reach(writer.written)
    guard part?.isMatch != false, state.add(trailerDigests(of: response)) else { throw TransferError(.digestMismatch) }
    switch state.endContent() {
    case .complete: return .complete(response.head)
    case .next: return .next
    case .fail(let reason): throw TransferError(reason)
    }
  }

  /// Removes the written bytes of a part that exceeds its range: the part may begin at another offset than it states.
  private mutating func discardPart(_ writer: ContentWriter) async throws(TransferError) -> Outcome {
    var writer = writer
    // Waits until no write is running.
    _ = try? await writer.finish()
    let (file, record, kept) = (file, record, state.kept)
    try await queues.writes.run {
      if let record { try file.cut(to: kept, record) }
    }
    state.abandonRanges()
    return .next
  }

  private func trailerDigests(of response: borrowing StreamedResponse) -> [FileDigest] {
    let trailers = response.trailers
    return trailers.isEmpty ? [] : DigestField.representation.digests(in: trailers)
  }

  // MARK: Files

  var resources: ContentWriter.Resources {
    ContentWriter.Resources(
      file: file, queues: queues, clock: client.runtime.clock, checkpointInterval: options.checkpointInterval)
  }

  /// The record of the bytes on disk, or `nil` if no later call could continue from them.
  var record: DownloadRecord? {
    guard state.isResumable, let representation = state.representation else { return nil }
    return DownloadRecord(representation, of: source, durable: 0, boot: BootSession.current)
  }

  /// Checks that the disk has enough free space for a file of this length.
  ///
  /// - Parameter emptying: whether the bytes on disk are removed first.
  func checkSpace(for length: Int64?, emptying: Bool) async throws(TransferError) {
    guard let length else { return }
    let file = file
    try await queues.writes.run {
      guard let free = file.folder.freeSpace else { return }
      let present = emptying ? try file.size : 0
      if length - present > free { throw TransferError(.diskFull) }
    }
  }

  private mutating func restart() async throws(TransferError) {
    resumed = 0
    digests = DigestStream(neededDigests.map(\.algorithm))
    let (file, record) = (file, record?.encoded())
    try await queues.writes.run { try file.restart(with: record) }
  }

  private var neededDigests: [FileDigest] {
    (options.digest.map { [$0] } ?? []) + (state.representation?.digests ?? [])
  }

  private mutating func hashKeptBytes() async throws(TransferError) {
    // Ranges do not arrive in order, so the complete file is hashed at the end.
    guard laneLimit == 1, gapped == nil else { return }
    digests = DigestStream(neededDigests.map(\.algorithm))
    try await file.hash(with: digests, upTo: state.kept, on: queues.writes)
  }

  // MARK: Ending

  private mutating func finish(_ head: HTTPResponse) async throws(CallError) -> DownloadedFile {
    let size = state.kept
    var isVerified = false
    do throws(TransferError) {
      try await verify()
      isVerified = true
      let (file, replacing) = (file, options.replacesExisting)
      if let willPublish = options.willPublish {
        try await willPublish(
          try await queues.writes.run { try FileVersion(of: file.descriptor) })
      }
      try await queues.writes.run { try file.publish(replacing: replacing) }
    } catch {
      throw failure(isVerified ? await secureCompleteFile(after: error) : await secureBytes(after: error))
    }
    progress.reach(size, of: size)
    let mediaType = state.representation?.mediaType.map { MediaType($0) }
    return DownloadedFile(file.place.path, size, resumed: resumed, (head, mediaType))
  }

  private func verify() async throws(TransferError) {
    for digest in neededDigests {
      var isMatch = digests.matches(digest)
      if isMatch == nil {
        // The server stated the digest after the bytes had been written.
        let stream = DigestStream([digest.algorithm])
        try await file.hash(with: stream, upTo: state.kept, on: queues.writes)
        isMatch = stream.matches(digest)
      }
      guard isMatch == true else { throw TransferError(.digestMismatch) }
    }
    if let makeCheck = options.makeCheck {
      try await file.perform(makeCheck(), upTo: state.kept, on: queues.writes)
    }
  }

  /// Returns after a delay if the download continues by itself.
  ///
  /// - Throws: the error of the download if it ends.
  private mutating func prepareContinuation(after error: CallError) async throws(CallError) {
    let isTemporary = error.isTemporaryInterruption && !file.hasLostContent
    guard let number = state.recordInterruption(isTemporary: isTemporary) else {
      throw error.explained(by: await secureBytes(after: TransferError(of: error)))
    }
    let runtime = client.runtime
    let delay = Backoff.delay(before: number, random: runtime.random())
    do {
      try await runtime.clock.sleep(until: runtime.clock.now.advanced(by: delay))
    } catch {
      throw failure(await secureBytes(after: TransferError(.interrupted)))
    }
  }

  /// Keeps a complete and verified file that could not get its final name, and returns the error with the file's size.
  private func secureCompleteFile(after error: TransferError) async -> TransferError {
    guard record == nil, !file.hasLostContent, let representation = state.representation, state.kept > 0 else {
      return await secureBytes(after: error)
    }
    if state.isComplete { return error.keeping(state.kept, of: state.kept) }
    let (file, now) = (file, Int64(Date().timeIntervalSince1970))
    let record = DownloadRecord(complete: representation, of: source, size: state.kept, now: now)
    do throws(TransferError) {
      try await queues.writes.run { try file.checkpoint(record) }
    } catch _ {
      return await secureBytes(after: error)
    }
    return error.keeping(state.kept, of: state.kept)
  }

  /// Flushes the bytes on disk, or removes them if no download can continue from them. Returns the error with the
  /// number of kept bytes.
  func secureBytes(after error: TransferError) async -> TransferError {
    let (file, total) = (file, state.representation?.total)
    if let log = lanes?.log { return await secureBytes(of: log, after: error) }
    // The record already describes these bytes.
    if let gapped { return error.keeping(gapped.count, of: total) }
    guard error.problem != .digestMismatch, !file.hasLostContent, state.kept > 0, var record else {
      _ = try? await queues.writes.run { file.remove() }
      return error.keeping(0, of: total)
    }
    record.durable = state.kept
    // On a full disk the old record remains. It describes the same bytes.
    _ = try? await queues.writes.run { [record] in try file.checkpoint(record) }
    return error.keeping(file.hasLostContent ? 0 : state.kept, of: total)
  }

  /// Creates the error of a download that failed outside its exchanges.
  func failure(_ cause: TransferError) -> CallError {
    var error = client.failure(cause.code ?? .cancelled, of: request, cause, message: cause.message)
    if error.code == .cancelled { error.cancellation = .caller }
    if state.hasResponded { (error.phase, error.requestState) = (.receiving, .responded) }
    return error
  }
}
