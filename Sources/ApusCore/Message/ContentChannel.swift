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
