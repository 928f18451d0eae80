package import ApusCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The content of an intermediate response: of a redirect that is followed, or of a 401 after which the call is resent.
///
/// The content is read so that the connection can be reused, and because the response may become the call's result.
/// Slow content is discarded.
package enum IntermediateContent {
  /// The maximum time for reading: too short to be noticed, long enough for content that arrives with its head.
  static let maximumReadTime = Duration.seconds(1)

  /// Reads content to its end: at most `limit` bytes, within ``maximumReadTime``, the attempt's limit and the call's
  /// deadline.
  ///
  /// - Returns: all bytes; `nil` if the content was too long, truncated or too slow, and was discarded.
  /// - Throws: `CancellationError` when the task was cancelled; `TransportError` when the attempt's deadline passed.
  package static func collect(_ content: ResponseContent, upTo limit: Int, _ context: CallContext) async throws -> Data?
  {
    if let bytes = content.bytes { return bytes.count <= limit ? bytes : nil }
    let data = await collect(content, upTo: limit, alarm(for: content, context))
    content.discard()
    try Task.checkCancellation()
    guard !context.isAttemptOver else {
      throw TransportError.attemptTimedOut(in: .receiving, requestState: .responded)
    }
    return data
  }

  private static func collect(_ content: ResponseContent, upTo limit: Int, _ alarm: DeadlineAlarm?) async -> Data? {
    defer { alarm?.cancel() }
    return try? await content.collect(upTo: limit)
  }

  /// Discards the content after ``maximumReadTime``, so that reading it throws.
  private static func alarm(for content: ResponseContent, _ context: CallContext) -> DeadlineAlarm? {
    guard content.expectedLength != 0 else { return nil }
    var context = context
    context.limitAttempt(to: context.now.advanced(by: maximumReadTime))
    return context.alarm(for: Discard(content: content))
  }

  private final class Discard: DeadlineTarget {
    let content: ResponseContent

    init(content: ResponseContent) {
      self.content = content
    }

    func deadlinePassed() { content.discard() }
  }
}
