#if Transfers
import ApusCore
import HTTPTypes

/// A download in progress: sends the requests that its ``DownloadState`` selects, and writes what arrives.
struct Download<Value: Sendable> {
  /// The step after an exchange.
  private enum Outcome {
    case complete(HTTPResponse)
    case next
  }

  private let client: Client
  private let request: Request<Value>
  private let options: DownloadOptions
  private let source: DownloadSource
  private let file: PartialFile
  private let queues: ContentWriter.Queues
  private var state: DownloadState
  private var progress: ProgressCount
  /// The digests over all written bytes.
  private var digests = DigestStream([])
  /// The number of bytes that an earlier download had left and that are still used.
  private var resumed: Int64

  init(
    _ client: Client, _ request: Request<Value>, _ opened: OpenedDownload, _ progress: @escaping ProgressCount.Report
  ) {
    (self.client, self.request, options, source) = (client, request, opened.options, opened.source)
    (file, queues, state, resumed) = (opened.file, opened.queues, opened.state, opened.state.kept)
    self.progress = ProgressCount(progress)
  }

  /// Downloads the file and gives it its final name.
  mutating func run() async throws(CallError) -> DownloadedFile {
    do throws(TransferError) {
      try await hashKeptBytes()
    } catch {
      throw failure(error.keeping(state.kept, of: state.representation?.total))
    }
    while true {
      let outcome: Outcome
      do throws(CallError) {
        outcome = try await exchange()
      } catch {
        try await prepareContinuation(after: error)
        continue
      }
      if case .complete(let head) = outcome { return try await finish(head) }
    }
  }

  // MARK: Exchanges

  private mutating func exchange() async throws(CallError) -> Outcome {
    let (client, request) = (client, rangedRequest())
    return try await client.withResponse(to: request) { response in try await receive(&response) }
  }

  private mutating func rangedRequest() -> Request<Value> {
    var request = request
    if !request.setsCoding { request = request.field("Accept-Encoding", "identity") }
    guard case .rest(let offset, let validator) = state.next() else { return request }
    let acceptance = request.acceptance
    return request.field("Range", "bytes=\(offset)-").field("If-Range", validator)
      .accepting(StatusAcceptance { $0 == 416 || acceptance.contains($0) })
  }

  private mutating func receive(_ response: inout StreamedResponse) async throws -> Outcome {
    switch state.receive(response.head) {
    case .restart(let length):
      try await checkSpace(for: length, emptying: true)
      try await restart()
      return try await write(&response, with: nil)
    case .append(let offset, let length):
      try await checkSpace(for: length, emptying: false)
      progress.reach(offset, of: state.representation?.total)
      let digests = DigestField.content.digests(in: response.head.headerFields)
      return try await write(&response, with: PartDigests(digests))
    case .complete: return .complete(response.head)
    case .startOver: return .next
    case .fail(let reason): throw TransferError(reason)
    }
  }

  /// - Parameter part: the digests of the content (body), if it is a part of the file.
  private mutating func write(_ response: inout StreamedResponse, with part: PartDigests?) async throws -> Outcome {
    let means = ContentWriter.Means(file: file, queues: queues, clock: client.runtime.clock)
    let streams = [digests] + (part.map { [$0.stream] } ?? [])
    var writer = ContentWriter(means, from: state.kept, digests: streams, record: record)
    do {
      while let piece = try await response.next() {
        guard state.permits(writer.offset + Int64(piece.count)) else { throw TransferError(.wrongLength) }
        try await writer.append(piece)
        progress.reach(writer.offset, of: state.representation?.total)
      }
      try await writer.finish()
    } catch {
      // What arrived before the error is kept.
      _ = try? await writer.finish()
      state.reach(writer.written)
      throw error
    }
    state.reach(writer.written)
    guard part?.isMatch != false, state.add(trailerDigests(of: response)) else { throw TransferError(.digestMismatch) }
    switch state.endContent() {
    case .complete: return .complete(response.head)
    case .next: return .next
    case .fail(let reason): throw TransferError(reason)
    }
  }

  private func trailerDigests(of response: borrowing StreamedResponse) -> [FileDigest] {
    let trailers = response.trailers
    return trailers.isEmpty ? [] : DigestField.representation.digests(in: trailers)
  }

  // MARK: Files

  /// The record of the bytes that are there, or `nil` if no other call could continue from them.
  private var record: DownloadRecord? {
    guard state.isResumable, let representation = state.representation else { return nil }
    return DownloadRecord(representation, of: source, durable: 0, boot: BootSession.current)
  }

  /// - Parameter emptying: whether the bytes that are there are removed first.
  private func checkSpace(for length: Int64?, emptying: Bool) async throws(TransferError) {
    guard let length else { return }
    let file = file
    try await queues.writes.run { () throws(TransferError) in
      guard let free = file.folder.freeSpace else { return }
      let present = emptying ? try file.size : 0
      if length - present > free { throw TransferError(.diskFull) }
    }
  }

  private mutating func restart() async throws(TransferError) {
    resumed = 0
    digests = DigestStream(neededDigests.map(\.algorithm))
    let (file, record) = (file, record?.encoded())
    try await queues.writes.run { () throws(TransferError) in try file.restart(with: record) }
  }

  private var neededDigests: [FileDigest] {
    (options.digest.map { [$0] } ?? []) + (state.representation?.digests ?? [])
  }

  private mutating func hashKeptBytes() async throws(TransferError) {
    digests = DigestStream(neededDigests.map(\.algorithm))
    try await file.hash(with: digests, upTo: state.kept, on: queues.writes)
  }

  // MARK: Ending

  private mutating func finish(_ head: HTTPResponse) async throws(CallError) -> DownloadedFile {
    let size = state.kept
    do throws(TransferError) {
      try await verify()
      let (file, replacing) = (file, options.replacesExisting)
      try await queues.writes.run { () throws(TransferError) in try file.publish(replacing: replacing) }
    } catch {
      throw failure(await settle(error))
    }
    progress.reach(size, of: size)
    let mediaType = state.representation?.mediaType.map { MediaType($0) }
    return DownloadedFile(file.place.path, size, resumed: resumed, (head, mediaType))
  }

  private func verify() async throws(TransferError) {
    for digest in neededDigests {
      var isMatch = digests.matches(digest)
      if isMatch == nil {
        // The server stated it after the bytes had been written.
        let stream = DigestStream([digest.algorithm])
        try await file.hash(with: stream, upTo: state.kept, on: queues.writes)
        isMatch = stream.matches(digest)
      }
      guard isMatch == true else { throw TransferError(.digestMismatch) }
    }
  }

  /// Returns after a delay if the download continues by itself.
  ///
  /// - Throws: the error of the download if it ends.
  private mutating func prepareContinuation(after error: CallError) async throws(CallError) {
    let isTemporary = error.isTemporaryInterruption && !file.hasLostContent
    guard let number = state.interrupt(isTemporary: isTemporary) else {
      throw error.explained(by: await settle(TransferError(of: error)))
    }
    let runtime = client.runtime
    let delay = Backoff.delay(before: number, random: runtime.random())
    do {
      try await runtime.clock.sleep(until: runtime.clock.now.advanced(by: delay))
    } catch {
      throw failure(await settle(TransferError(.interrupted)))
    }
  }

  /// Makes the bytes that are there safe, or removes them if they are useless, and returns the error with their number.
  private func settle(_ error: TransferError) async -> TransferError {
    let (file, total) = (file, state.representation?.total)
    guard error.reason != .digestMismatch, !file.hasLostContent, state.kept > 0, var record else {
      _ = try? await queues.writes.run { file.remove() }
      return error.keeping(0, of: total)
    }
    record.durable = state.kept
    // On a full disk the old record stays, which describes the same bytes.
    _ = try? await queues.writes.run { [record] () throws(TransferError) in try file.checkpoint(record) }
    return error.keeping(file.hasLostContent ? 0 : state.kept, of: total)
  }

  /// Creates the error of a download that failed outside its exchanges.
  private func failure(_ cause: TransferError) -> CallError {
    var error = client.failure(cause.code ?? .cancelled, of: request, cause, message: cause.message)
    if error.code == .cancelled { error.cancellation = .caller }
    if state.hasResponded { (error.phase, error.requestState) = (.receiving, .responded) }
    return error
  }
}
#endif
