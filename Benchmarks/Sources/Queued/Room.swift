import Apus
import HTTPTypes
import Synchronization

/// A minimal place for tasks to wait until they are cancelled.
final class Room: Sendable {
  private enum Position: Sendable {
    /// A task is about to wait.
    case expected
    case taken(CheckedContinuation<Void, any Error>)
    case left
  }

  private struct State: Sendable {
    var places: [Position] = []
    var waiting = 0

    mutating func come() -> Int {
      places.append(.expected)
      return places.count - 1
    }

    /// Returns whether the task was cancelled before it waited.
    mutating func wait(_ place: Int, _ continuation: CheckedContinuation<Void, any Error>) -> Bool {
      if case .left = places[place] { return true }
      places[place] = .taken(continuation)
      waiting += 1
      return false
    }

    mutating func leave(_ place: Int) -> CheckedContinuation<Void, any Error>? {
      defer { places[place] = .left }
      guard case .taken(let continuation) = places[place] else { return nil }
      waiting -= 1
      return continuation
    }
  }

  private let state: Mutex<State>

  /// Creates an empty room with a capacity.
  init(_ count: Int) {
    var state = State()
    state.places.reserveCapacity(count)
    self.state = Mutex(state)
  }

  /// The number of waiting tasks.
  var waiting: Int { state.withLock { $0.waiting } }

  /// Waits until cancelled.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func wait() async throws {
    let place = state.withLock { $0.come() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isOver = state.withLock { $0.wait(place, continuation) }
        if isOver { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let continuation = state.withLock { $0.leave(place) }
      continuation?.resume(throwing: CancellationError())
    }
  }
}

/// A transport whose responses never arrive.
struct Unanswered: Transport {
  let room: Room

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await room.wait()
    return ResponseMessage(head: HTTPResponse(status: .noContent))
  }
}
