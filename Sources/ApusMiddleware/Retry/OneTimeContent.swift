import ApusCore
import Synchronization

/// Content that can be sent only once, watched: as long as nobody has begun to read it, it can still be sent.
struct OneTimeContent {
  private final class Use: Sendable {
    let hasBegun = Atomic(false)
  }

  /// The content to send in its place.
  let content: MessageContent
  private let use: Use

  /// - Returns: `nil` for content that can be sent again anyway.
  init?(_ content: MessageContent) {
    guard case .stream(let stream) = content, !stream.isReplayable else { return nil }
    let use = Use()
    self.use = use
    self.content = .stream(
      ContentStream(length: stream.length, isReplayable: false) {
        use.hasBegun.store(true, ordering: .releasing)
        return try stream.makePieces()
      })
  }

  /// Whether it is all there still.
  var isUntouched: Bool { !use.hasBegun.load(ordering: .acquiring) }
}
