public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Content (body) that is being received. Counts the bytes and reports the end once to every registered action.
///
/// The content is discarded when its last reference is released, so that a leaked response does not occupy a
/// connection.
final class ArrivingContent: Sendable {
  private struct State {
    var end: ContentEnd?
    var actions: [@Sendable (ContentEnd) -> Void] = []
    var received: Int64 = 0
    var isDiscarded = false
    /// The error for the reader of discarded content. `nil` means `CancellationError`.
    var interruption: (any Error)?
  }

  let expectedLength: Int64?
  private let source: any ContentSource
  private let state = Mutex(State())

  init(source: any ContentSource, expectedLength: Int64?) {
    self.source = source
    self.expectedLength = expectedLength
  }

  /// The trailer fields. Empty until all content was read.
  var trailers: HTTPFields {
    guard case .finished = state.withLock({ $0.end }) else { return [:] }
    return TrailerRules.allowed(source.trailers)
  }

  func next() async throws -> Data? {
    if let end = state.withLock({ $0.end }) {
      if case .failed(let error) = end { throw error }
      if case .discarded = end { throw CancellationError() }
      return nil
    }
    do {
      guard let piece = try await source.next() else {
        end(with: .finished(length: state.withLock { $0.received }))
        return nil
      }
      let interruption = state.withLock { state in
        state.received += Int64(piece.count)
        return state.interruption
      }
      // The piece arrived while the content was discarded.
      if let interruption { throw interruption }
      return piece
    } catch {
      if let interruption = state.withLock({ $0.interruption }) { throw interruption }
      // A cancelled source throws as well, which is not a failure of the content.
      end(with: state.withLock { $0.isDiscarded } ? .discarded : .failed(error))
      throw error
    }
  }

  func collect(upTo limit: Int, onPiece: @Sendable (Int) -> Void) async throws -> Data {
    if let expectedLength, expectedLength > Int64(limit) {
      discard()
      throw TransportError.contentTooLarge(limit: limit)
    }
    guard var all = try await next() else { return Data() }
    onPiece(all.count)
    while all.count <= limit, let piece = try await next() {
      onPiece(piece.count)
      all.append(piece)
    }
    guard all.count <= limit else {
      discard()
      throw TransportError.contentTooLarge(limit: limit)
    }
    return all
  }

  func onEnd(_ action: @escaping @Sendable (ContentEnd) -> Void) {
    let end: ContentEnd? = state.withLock { state in
      if state.end == nil { state.actions.append(action) }
      return state.end
    }
    if let end { action(end) }
  }

  /// - Parameter interruption: the error for the reader. Default: `nil`, which means `CancellationError`.
  func discard(throwing interruption: (any Error)? = nil) {
    let isOver = state.withLock { state in
      state.isDiscarded = true
      if state.end == nil, state.interruption == nil { state.interruption = interruption }
      return state.end != nil
    }
    guard !isOver else { return }
    source.cancel()
    end(with: interruption.map { .failed($0) } ?? .discarded)
  }

  private func end(with end: ContentEnd) {
    let actions: [@Sendable (ContentEnd) -> Void] = state.withLock { state in
      guard state.end == nil else { return [] }
      state.end = end
      defer { state.actions = [] }
      return state.actions
    }
    for action in actions { action(end) }
  }

  deinit {
    let ended = state.withLock { $0.end != nil }
    guard !ended else { return }
    source.cancel()
    for action in state.withLock({ $0.actions }) { action(.discarded) }
  }
}

/// A source of response content that is still arriving. Implemented by transports.
public protocol ContentSource: Sendable {
  /// Returns the next piece, which is never empty, or `nil` at the end of the content.
  ///
  /// Called by one reader at a time.
  ///
  /// - Throws: ``TransportError`` when the content is cut short. `CancellationError` when the task is cancelled.
  func next() async throws -> Data?

  /// The trailer fields (RFC 9110 §6.5). Read after ``next()`` has returned `nil`. Default: no trailers, for transports
  /// that do not receive them.
  var trailers: HTTPFields { get }

  /// Discards the rest of the content: drains or closes the exchange.
  ///
  /// May be called at any time and more than once. A pending ``next()`` then throws `CancellationError`.
  func cancel()
}

extension ContentSource {
  /// No trailer fields.
  public var trailers: HTTPFields { [:] }
}
