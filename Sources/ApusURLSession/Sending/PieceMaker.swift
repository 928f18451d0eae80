import ApusCore
import Dispatch
import Foundation
import Synchronization

/// A producer of the content of one exchange. It produces the content while it is sent, in a task that ends with the
/// exchange.
final class PieceMaker: Sendable {
  private enum Work {
    case none
    case running(Task<Void, Never>)
    case stopped
  }

  let pieces = OutgoingPieces()
  private let stream: ContentStream
  private let work = Mutex(Work.none)

  init(_ stream: ContentStream) {
    self.stream = stream
  }

  /// Starts a pass over the content. `onFailure` is called if the content cannot be completed.
  func start(in context: ExchangeContext, onFailure: @escaping @Sendable (any Error) -> Void) {
    let task = context.spawn { [pieces, stream] in
      do {
        try await stream.makeAll { await pieces.offer($0) }
        pieces.complete()
      } catch {
        // The exchange is notified first, so that it has the reason before the reader finds the content incomplete.
        onFailure(error)
        pieces.close()
      }
    }
    let isStopped = work.withLock { work in
      if case .stopped = work { return true }
      work = .running(task)
      return false
    }
    if isStopped { task.cancel() }
  }

  func isSent(_ count: Int64) -> Bool { stream.length.map { count >= $0 } ?? pieces.isConsumed }

  /// Stops: releases the reader and cancels the producer.
  func stop() {
    pieces.close()
    let previous = work.withLock { work in
      defer { work = .stopped }
      return work
    }
    if case .running(let task) = previous { task.cancel() }
  }
}

/// A channel from a task that produces pieces of content to a thread that reads them and blocks.
///
/// Contains one piece at a time. The producer is suspended until the reader has consumed the piece. The reader's thread
/// is blocked until a piece or the end arrives, or until the content is closed.
final class OutgoingPieces: Sendable {
  private struct State {
    var rest = Data()
    var isComplete = false
    var isClosed = false
    var maker: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  private let changed = DispatchSemaphore(value: 0)

  /// Offers a piece and waits until it is read. Returns whether another piece is needed.
  func offer(_ piece: Data) async -> Bool {
    guard !piece.isEmpty else { return !state.withLock { $0.isClosed } }
    await withCheckedContinuation { maker in
      let isClosed = state.withLock { state in
        guard !state.isClosed else { return true }
        state.rest = piece
        state.maker = maker
        return false
      }
      if isClosed { maker.resume() } else { changed.signal() }
    }
    return !state.withLock { $0.isClosed }
  }

  /// Ends the content.
  func complete() {
    state.withLock { $0.isComplete = true }
    changed.signal()
  }

  /// Whether the reader has consumed all content.
  var isConsumed: Bool { state.withLock { $0.isComplete && $0.rest.isEmpty } }

  /// Releases both sides: discards unread content, and reports to the reader that the content is incomplete.
  func close() {
    let maker = state.withLock { state in
      state.isClosed = true
      state.rest = Data()
      defer { state.maker = nil }
      return state.maker
    }
    changed.signal()
    maker?.resume()
  }

  /// Fills a buffer from one piece. Blocks while there is no piece.
  ///
  /// - Returns: the number of bytes; 0 at the end, `nil` if the content is incomplete.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    while true {
      let (outcome, maker) = state.withLock { Self.take(&$0, into: buffer) }
      maker?.resume()
      switch outcome {
      case .bytes(let count): return count
      case .torn: return nil
      // An extra signal only causes another check.
      case .nothingYet: changed.wait()
      }
    }
  }

  private enum Outcome {
    case bytes(Int)
    case torn
    case nothingYet
  }

  private static func take(
    _ state: inout State, into buffer: UnsafeMutableRawBufferPointer
  ) -> (Outcome, CheckedContinuation<Void, Never>?) {
    guard !state.isClosed else { return (.torn, nil) }
    guard !state.rest.isEmpty else { return (state.isComplete ? .bytes(0) : .nothingYet, nil) }
    let count = min(buffer.count, state.rest.count)
    state.rest.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
    state.rest = state.rest.count > count ? Data(state.rest.dropFirst(count)) : Data()
    guard state.rest.isEmpty else { return (.bytes(count), nil) }
    defer { state.maker = nil }
    return (.bytes(count), state.maker)
  }
}
