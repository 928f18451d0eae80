public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Carries content from a transport that pushes bytes to a reader that asks for them.
///
/// The transport is told when more waits than it should, and again when there is room, so that one that
/// can stop reading does.
public final class ContentChannel: ContentSource {
  private let state: Mutex<ContentChannelState>
  private let onDemand: @Sendable () -> Void
  private let onCancel: @Sendable () -> Void

  /// Makes a channel.
  ///
  /// - Parameters:
  ///   - highWaterMark: bytes that may wait before the transport should stop. Default: 256 KiB.
  ///   - onDemand: called when the transport was told to stop and there is room again.
  ///   - onCancel: called once when the reader gives the content up before its end.
  public init(
    highWaterMark: Int = 256 << 10, onDemand: @escaping @Sendable () -> Void = {},
    onCancel: @escaping @Sendable () -> Void
  ) {
    state = Mutex(ContentChannelState(highWaterMark: highWaterMark))
    self.onDemand = onDemand
    self.onCancel = onCancel
  }

  /// Adds a piece; answers whether the transport may go on, or should wait for demand.
  @discardableResult
  public func push(_ data: Data) -> Bool {
    let (waiter, mayGoOn) = state.withLock { $0.push(data) }
    waiter?.resume(returning: data)
    return mayGoOn
  }

  /// Ends the content, well or with an error. Later calls do nothing.
  ///
  /// - Parameters:
  ///   - error: why it broke off. Default: none, it is complete.
  ///   - trailers: the fields that came after it. Default: none.
  public func finish(throwing error: (any Error)? = nil, trailers: HTTPFields = [:]) {
    let waiter = state.withLock { $0.finish(error, trailers) }
    if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: nil) }
  }

  /// The next piece; `nil` at the end.
  public func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let answer = state.withLock { $0.next(waiter) }
        if answer.wantsMore { onDemand() }
        if let result = answer.result { waiter.resume(with: result) }
      }
    } onCancel: {
      cancel()
    }
  }

  /// The fields that came after the content; none before its end.
  public var trailers: HTTPFields { state.withLock { $0.trailers } }

  /// Gives the content up.
  public func cancel() {
    let (waiter, wasOpen) = state.withLock { $0.cancel() }
    if wasOpen { onCancel() }
    waiter?.resume(throwing: CancellationError())
  }
}

/// What waits in a channel and who waits for it: pure, the channel performs what it answers.
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

  /// Takes a piece. Answers who gets it at once, and whether the sender may go on.
  mutating func push(_ data: Data) -> (waiter: Waiter?, mayGoOn: Bool) {
    guard case .open = phase, !data.isEmpty else { return (nil, true) }
    if let waiter {
      self.waiter = nil
      return (waiter, true)
    }
    pieces.append(data)
    isPaused = pieces.byteCount >= highWaterMark
    return (nil, !isPaused)
  }

  /// Ends the content. Answers who waited for more.
  mutating func finish(_ error: (any Error)?, _ trailers: HTTPFields = [:]) -> Waiter? {
    guard case .open = phase else { return nil }
    phase = .finished(error)
    self.trailers = trailers
    defer { waiter = nil }
    return waiter
  }

  /// Asks for a piece. Answers it, or nothing when the waiter has to wait.
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

  /// Gives the content up. Answers who waited, and whether the content was still arriving.
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

/// A first-in, first-out queue of content pieces that releases each piece when it is taken.
///
/// Taking a piece takes constant time on average; the queue itself stays as short as what waits in it, however many
/// pieces have passed through and even if it never runs empty.
struct PieceQueue {
  /// The pieces that wait, after `head` empty places.
  private(set) var places: [Data] = []
  private var head = 0
  private(set) var byteCount = 0

  var isEmpty: Bool { head == places.count }

  mutating func append(_ piece: Data) {
    places.append(piece)
    byteCount += piece.count
  }

  mutating func popFirst() -> Data? {
    guard head < places.count else { return nil }
    let piece = places[head]
    places[head] = Data()
    head += 1
    byteCount -= piece.count
    if head == places.count {
      places.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= Self.sparePlaces, head * 2 >= places.count {
      places.removeFirst(head)
      head = 0
    }
    return piece
  }

  mutating func removeAll() {
    self = PieceQueue()
  }

  /// Empty places that are not worth moving the others for.
  private static let sparePlaces = 32
}
