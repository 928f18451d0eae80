import Dispatch
import Foundation
import Synchronization

/// Hands content from a task that makes it piece by piece to a thread that reads it by blocking.
///
/// Holds one piece at a time: the maker waits, suspended, until the reader has taken it. The reader's thread
/// is blocked until there is a piece, the end, or nobody wants the content any more.
final class OutgoingPieces: Sendable {
  private struct State {
    var rest = Data()
    var isComplete = false
    var isClosed = false
    var maker: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  private let changed = DispatchSemaphore(value: 0)

  /// Offers a piece and waits until it is taken; answers whether more is wanted.
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

  /// Says that all pieces have been offered.
  func complete() {
    state.withLock { $0.isComplete = true }
    changed.signal()
  }

  /// Frees both sides: what was not read is dropped, and the reader is told that the content is torn.
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

  /// Fills a buffer as far as a piece goes; blocks while there is none.
  ///
  /// - Returns: how many bytes; 0 at the end, `nil` when the content is torn.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    while true {
      let (outcome, maker) = state.withLock { Self.take(&$0, into: buffer) }
      maker?.resume()
      switch outcome {
      case .bytes(let count): return count
      case .torn: return nil
      // A signal too many only makes this look once more.
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
