import ApusCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Content of a response that the call goes on from: a redirect's, or that of a refusal of credentials.
///
/// It is worth reading for its connection, or in case the call ends with this response after all; never worth waiting
/// for as long as a server likes to send.
enum PassingContent {
  /// How long it is waited for; a time too short to be noticed, and long enough for content that came with its head.
  static let patience = Duration.seconds(1)

  /// Reads content to its end: at most `limit` bytes, and no longer than ``patience``, the attempt and the call last.
  ///
  /// - Returns: all bytes; `nil`: there are more, they broke off or took too long, and the exchange was given up.
  /// - Throws: `CancellationError` when the task was cancelled, `TransportError` when the time of the attempt is up.
  static func collect(_ content: ResponseContent, upTo limit: Int, _ context: CallContext) async throws -> Data? {
    if let bytes = content.bytes { return bytes.count <= limit ? bytes : nil }
    let data = await collect(content, upTo: limit, alarm(for: content, context))
    content.discard()
    try Task.checkCancellation()
    guard !context.isAttemptOver else {
      throw TransportError.attemptTimedOut(in: .receiving, requestState: .answered)
    }
    return data
  }

  private static func collect(_ content: ResponseContent, upTo limit: Int, _ alarm: DeadlineAlarm?) async -> Data? {
    defer { alarm?.cancel() }
    return try? await content.collect(upTo: limit)
  }

  /// Gives the content up when it is too late: then its reader gets an error.
  private static func alarm(for content: ResponseContent, _ context: CallContext) -> DeadlineAlarm? {
    guard content.expectedLength != 0 else { return nil }
    var context = context
    context.limitAttempt(to: context.now.advanced(by: patience))
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
