public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A buffer between a transport that pushes content (body) and a reader that pulls it, with backpressure.
///
/// The result of ``push(_:)`` indicates whether the transport should stop reading from the network; `onDemand`
/// indicates when to resume.
public final class ContentChannel: ContentSource {
  private let state: Mutex<ContentChannelState>
  private let onDemand: @Sendable () -> Void
  private let onCancel: @Sendable () -> Void

  /// Creates a channel.
  ///
  /// - Parameters:
  ///   - highWaterMark: the number of buffered bytes at which the transport should stop. Default: 256 KiB.
  ///   - onDemand: called when half of the buffer is free again after ``push(_:)`` returned `false`.
  ///   - onCancel: called once if the reader discards the content before its end.
  public init(
    highWaterMark: Int = 256 << 10, onDemand: @escaping @Sendable () -> Void = {},
    onCancel: @escaping @Sendable () -> Void
  ) {
    state = Mutex(ContentChannelState(highWaterMark: highWaterMark))
    self.onDemand = onDemand
    self.onCancel = onCancel
  }

  /// Adds a piece. Returns whether the transport may continue; if `false`, it should wait for `onDemand`.
  @discardableResult
  public func push(_ data: Data) -> Bool {
    let (waiter, mayContinue) = state.withLock { $0.push(data) }
    waiter?.resume(returning: data)
    return mayContinue
  }

  /// Ends the content. Later calls do nothing.
  ///
  /// - Parameters:
  ///   - error: the reason why the content is incomplete. Default: `nil`, the content is complete.
  ///   - trailers: the trailer fields. Default: none.
  public func finish(throwing error: (any Error)? = nil, trailers: HTTPFields = [:]) {
    let waiter = state.withLock { $0.finish(error, trailers) }
    if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: nil) }
  }

  /// Returns the next piece, or `nil` at the end.
  public func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let next = state.withLock { $0.next(waiter) }
        if next.wantsMore { onDemand() }
        if let result = next.result { waiter.resume(with: result) }
      }
    } onCancel: {
      cancel()
    }
  }

  /// The trailer fields. Empty before the end of the content.
  public var trailers: HTTPFields { state.withLock { $0.trailers } }

  /// Discards the content.
  public func cancel() {
    let (waiter, wasOpen) = state.withLock { $0.cancel() }
    if wasOpen { onCancel() }
    waiter?.resume(throwing: CancellationError())
  }
}

/// The buffered pieces and the waiting reader of a channel. A pure state machine; the channel resumes the waiters that
/// it returns.
struct ContentChannelState {
  typealias Waiter = CheckedContinuation<Data?, any Error>

  private enum Phase {
    case open
    case finished((any Error)?)
    case cancelled
  }

  private let highWaterMark: Int
  private var phase = Phase.open
  private(set) var pieces = PieceQueue()
  private var waiter: Waiter?
  private var isPaused = false
  private(set) var trailers = HTTPFields()

  init(highWaterMark: Int) {
    self.highWaterMark = highWaterMark
  }

  /// Adds a piece. Returns the reader that receives it immediately, and whether the sender may continue.
  mutating func push(_ data: Data) -> (waiter: Waiter?, mayContinue: Bool) {
    guard case .open = phase, !data.isEmpty else { return (nil, true) }
    if let waiter {
      self.waiter = nil
      return (waiter, true)
    }
    pieces.append(data)
    isPaused = pieces.byteCount >= highWaterMark
    return (nil, !isPaused)
  }

  /// Ends the content. Returns the waiting reader.
  mutating func finish(_ error: (any Error)?, _ trailers: HTTPFields = [:]) -> Waiter? {
    guard case .open = phase else { return nil }
    phase = .finished(error)
    self.trailers = trailers
    defer { waiter = nil }
    return waiter
  }

  /// Requests a piece. Returns the result, or `nil` if the reader must wait, and whether the sender should resume.
  mutating func next(_ waiter: Waiter) -> (result: Result<Data?, any Error>?, wantsMore: Bool) {
    if case .cancelled = phase { return (.failure(CancellationError()), false) }
    if let piece = pieces.popFirst() { return (.success(piece), unpauseIfDrained()) }
    switch phase {
    case .finished(nil): return (.success(nil), false)
    case .finished(let error?): return (.failure(error), false)
    case .cancelled, .open:
      self.waiter = waiter
      return (nil, unpauseIfDrained())
    }
  }

  /// Discards the content. Returns the waiting reader, and whether the content was still arriving.
  mutating func cancel() -> (waiter: Waiter?, wasOpen: Bool) {
    var wasOpen = false
    switch phase {
    case .cancelled: return (nil, false)
    case .open: wasOpen = true
    case .finished: break
    }
    phase = .cancelled
    pieces.removeAll()
    defer { waiter = nil }
    return (waiter, wasOpen)
  }

  private mutating func unpauseIfDrained() -> Bool {
    guard case .open = phase, isPaused, pieces.byteCount <= highWaterMark / 2 else { return false }
    isPaused = false
    return true
  }
}

/// A first-in, first-out queue of content pieces that releases each piece when it is removed.
///
/// Removing a piece takes amortized constant time. The storage stays proportional to the number of queued pieces, even
/// if the queue never becomes empty.
struct PieceQueue {
  /// The queued pieces, after `head` empty slots.
  private(set) var slots: [Data] = []
  private var head = 0
  private(set) var byteCount = 0

  var isEmpty: Bool { head == slots.count }

  mutating func append(_ piece: Data) {
    slots.append(piece)
    byteCount += piece.count
  }

  mutating func popFirst() -> Data? {
    guard head < slots.count else { return nil }
    let piece = slots[head]
    slots[head] = Data()
    head += 1
    byteCount -= piece.count
    if head == slots.count {
      slots.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= Self.spareSlots, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return piece
  }

  mutating func removeAll() {
    self = PieceQueue()
  }

  /// The number of empty slots from which the queued pieces are moved to the front.
  private static let spareSlots = 32
}
