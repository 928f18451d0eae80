import ApusCore
import Foundation
import Synchronization

/// Makes the content of one exchange while it is sent, in a task that ends with the exchange.
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

  /// Starts a pass over the content; `onFailure` is told when it cannot be completed.
  func start(in context: ExchangeContext, onFailure: @escaping @Sendable (any Error) -> Void) {
    let task = context.spawn { [pieces, stream] in
      do {
        try await stream.makeAll { await pieces.offer($0) }
        pieces.complete()
      } catch {
        // First the exchange, then the reader, so that the reason is known before the content is torn.
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

  /// Stops: the reader is freed and the maker cancelled.
  func stop() {
    pieces.close()
    let previous = work.withLock { work in
      defer { work = .stopped }
      return work
    }
    if case .running(let task) = previous { task.cancel() }
  }
}
