public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Content on its way: counts what arrived and tells everyone who asked how it ended, once.
///
/// Content that nobody holds any more is given up, so a forgotten response cannot keep a connection.
final class ArrivingContent: Sendable {
  private struct State {
    var end: ContentEnd?
    var actions: [@Sendable (ContentEnd) -> Void] = []
    var received: Int64 = 0
    var isGivenUp = false
    /// What the reader gets of content that was given up; `nil`: a cancellation.
    var interruption: (any Error)?
  }

  let expectedLength: Int64?
  private let source: any ContentSource
  private let state = Mutex(State())

  init(source: any ContentSource, expectedLength: Int64?) {
    self.source = source
    self.expectedLength = expectedLength
  }

  /// The fields that came after the content; none unless all of it was read.
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
      // It came while the content was given up.
      if let interruption { throw interruption }
      return piece
    } catch {
      if let interruption = state.withLock({ $0.interruption }) { throw interruption }
      // A source that is told to stop throws as well; that is not how the content ended.
      end(with: state.withLock { $0.isGivenUp } ? .discarded : .failed(error))
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

  /// - Parameter interruption: what a reader gets. Default: a cancellation.
  func discard(throwing interruption: (any Error)? = nil) {
    let isOver = state.withLock { state in
      state.isGivenUp = true
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

/// Where a response's content comes from while it arrives: implemented by transports.
public protocol ContentSource: Sendable {
  /// The next piece, never empty; `nil` once the content is complete.
  ///
  /// Called by one reader at a time. A task that is cancelled while it waits gets `CancellationError`.
  ///
  /// - Throws: ``TransportError`` when the content breaks off.
  func next() async throws -> Data?

  /// The fields that came after the content (RFC 9110 §6.5); asked for once ``next()`` gave `nil`. Default: none, for
  /// transports that cannot see them.
  var trailers: HTTPFields { get }

  /// Gives the content up: drains or closes the exchange. May be called at any time, more than once;
  /// a waiting ``next()`` then throws `CancellationError`.
  func cancel()
}

extension ContentSource {
  /// None.
  public var trailers: HTTPFields { [:] }
}
