import ApusCore
import HTTPTypes
import Synchronization

/// The part of a download in which several ranges are requested concurrently. Performs the steps of its ``RangeState``.
///
/// Each lane runs in a separate task. All lanes write to the same file, at different offsets, through one queue.
final class ParallelDownload<Value: Sendable>: Sendable {
  private struct State {
    var ranges: RangeState
    var progress: ProgressCount
    var failure: CallError?
    /// The head of the last response that was read completely.
    var head: HTTPResponse?
  }

  let log: RangeLog
  /// The number of lanes at the start.
  let laneCount: Int
  private let client: Client
  private let request: Request<Value>
  private let resources: ContentWriter.Resources
  private let ifRange: String
  private let state: Mutex<State>

  /// - Parameter request: the request for the complete file.
  init(
    _ client: Client, _ request: Request<Value>, _ resources: ContentWriter.Resources,
    _ course: (ranges: RangeState, log: RangeLog, progress: ProgressCount)
  ) {
    (self.client, self.request, self.resources, log) = (client, request, resources, course.log)
    laneCount = course.ranges.laneCount
    ifRange = course.ranges.representation.validator?.ifRange ?? ""
    state = Mutex(State(ranges: course.ranges, progress: course.progress))
  }

  var hasEnded: Bool { end != nil }
  var end: RangeState.End? { state.withLock { $0.ranges.end } }
  var representation: Representation { state.withLock { $0.ranges.representation } }
  var progress: ProgressCount { state.withLock { $0.progress } }
  /// The error of the exchange that failed. `nil` if a delay was cancelled.
  var failure: CallError? { state.withLock { $0.failure } }
  var head: HTTPResponse? { state.withLock { $0.head } }

  // MARK: Lanes

  /// Sends the requests of a lane until no range is left for the lane.
  func run(_ lane: Int) async {
    reportProgress()
    while let range = state.withLock({ $0.ranges.next(for: lane) }) {
      let request = request.range("\(range.lowerBound)-\(range.upperBound - 1)", ifRange: ifRange)
      do throws(CallError) {
        try await client.withResponse(to: request) { response in try await receive(&response, on: lane) }
      } catch {
        guard await recover(lane, from: error) else { return }
      }
    }
  }

  /// Decides how a lane proceeds after an error. Returns whether the lane continues.
  func recover(_ lane: Int, from error: CallError) async -> Bool {
    let recovery = state.withLock { state in
      let recovery = state.ranges.recordInterruption(
        of: lane, by: resources.file.hasLostContent ? .permanent : error.rangeFailure)
      if recovery == .fail { state.failure = error }
      return recovery
    }
    guard case .next(let number) = recovery else { return false }
    let runtime = client.runtime
    let delay = Backoff.delay(before: number, random: runtime.random())
    do {
      try await runtime.clock.sleep(until: runtime.clock.now.advanced(by: delay))
      return true
    } catch {
      state.withLock { $0.ranges.fail() }
      return false
    }
  }

  private func receive(_ response: inout StreamedResponse, on lane: Int) async throws {
    let head = response.head
    let isDecoded = response.isDecoded
    switch state.withLock({ $0.ranges.receive(head, isDecoded: isDecoded, on: lane) }) {
    case .write(let offset):
      let digests = DigestField.content.digests(in: head.headerFields)
      try await write(&response, from: offset, on: lane, with: PartDigests(digests))
    case .stop: break
    }
  }

  /// Writes the content (body) of a response up to the end of the lane's range.
  ///
  /// - Parameter part: the digests of the content, if it is a part of the file.
  func write(
    _ response: inout StreamedResponse, from offset: Int64, on lane: Int, with part: PartDigests?
  ) async throws {
    let streams = part.map { [$0.stream] } ?? []
    let recording = ContentWriter.Recording.range(log, slot: log.slot(from: offset))
    var writer = ContentWriter(resources, from: offset, digests: streams, recording: recording)
    let isWhole: Bool
    do {
      isWhole = try await copy(&response, to: &writer, on: lane)
      try await writer.finish()
    } catch {
      // Keeps the bytes received before the error.
      _ = try? await writer.finish()
      reach(writer.written, on: lane)
      throw error
    }
    reach(writer.written, on: lane)
    let problem = state.withLock { state in
      if isWhole { state.head = response.head }
      return state.ranges.endContent(on: lane, isWhole: isWhole)
    }
    if let problem { throw TransferError(problem) }
    guard isWhole else { return }
    let trailers = response.trailers
    let late = trailers.isEmpty ? [] : DigestField.representation.digests(in: trailers)
    guard part?.isMatch != false, state.withLock({ $0.ranges.add(late) }) else { throw TransferError(.digestMismatch) }
  }

  /// Copies the content to the writer. Returns whether all content was read.
  private func copy(
    _ response: inout StreamedResponse, to writer: inout ContentWriter, on lane: Int
  ) async throws -> Bool {
    while let piece = try await response.next() {
      switch state.withLock({ $0.ranges.arrive(piece.count, on: lane) }) {
      case .write(let count): try await writer.append(piece.prefix(count))
      case .last(let count):
        if count > 0 { try await writer.append(piece.prefix(count)) }
        reportProgress()
        return false
      }
      reportProgress()
    }
    return true
  }

  private func reach(_ offset: Int64, on lane: Int) {
    state.withLock { $0.ranges.reach(offset, on: lane) }
  }

  /// Reports the progress inside the lock, so that the reports are in order.
  private func reportProgress() {
    state.withLock { $0.progress.reach($0.ranges.arrived, of: $0.ranges.total) }
  }
}

extension CallError {
  /// The consequence of a failed exchange for its lane.
  ///
  /// A call that a full queue refused, or that waited too long in the queue, does not affect the running lanes.
  fileprivate var rangeFailure: RangeState.Failure {
    if isTemporaryInterruption { return .temporary }
    return transfer != nil || code == .cancelled ? .permanent : .rejected
  }
}
