import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Content that is collected while the app reads it, for a cache. Content that the app does not read to its end, or that
/// exceeds the limit, is not stored.
final class StoringSource: ContentSource {
  private enum State {
    case collecting(Data)
    /// The content is not stored.
    case passing
    case over
  }

  private let content: ResponseContent
  private let limit: Int64
  private let state = Mutex(State.collecting(Data()))
  private let store: @Sendable (Data) async -> Void
  private let onEnd: @Sendable () -> Void

  /// - Parameters:
  ///   - content: the content of the response, still arriving.
  ///   - limit: the maximum number of bytes that are collected.
  ///   - store: stores the complete content.
  ///   - end: called once, after `store` or if the content is not stored.
  init(
    _ content: ResponseContent, limit: Int64, store: @escaping @Sendable (Data) async -> Void,
    end: @escaping @Sendable () -> Void
  ) {
    (self.content, self.limit, self.store) = (content, limit, store)
    onEnd = end
    if let length = content.expectedLength, length > limit { state.withLock { $0 = .passing } }
  }

  var trailers: HTTPFields { content.trailers }

  func next() async throws -> Data? {
    do {
      guard let piece = try await content.next() else {
        if let data = take() { await store(data) }
        end()
        return nil
      }
      collect(piece)
      return piece
    } catch {
      end()
      throw error
    }
  }

  func cancel() {
    content.discard()
    end()
  }

  private func collect(_ piece: Data) {
    state.withLock { state in
      guard case .collecting(var data) = state else { return }
      // Released, so that the content is appended in place.
      state = .passing
      guard Int64(data.count + piece.count) <= limit else { return }
      data.append(piece)
      state = .collecting(data)
    }
  }

  /// Returns the complete content, or `nil` if it is not stored. From now on it is being stored.
  private func take() -> Data? {
    state.withLock { state in
      guard case .collecting(let data) = state else { return nil }
      state = .passing
      return data
    }
  }

  private func end() {
    let isFirst = state.withLock { state in
      if case .over = state { return false }
      state = .over
      return true
    }
    if isFirst { onEnd() }
  }

  deinit {
    end()
  }
}
