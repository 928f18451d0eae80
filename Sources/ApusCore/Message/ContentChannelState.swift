import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
