import ApusCore
import Foundation

/// Content that a session reads as a stream.
protocol OutgoingStream: Sendable {
  /// The bytes from their start; asked for once.
  func inputStream() throws -> InputStream
  /// The session is about to read; `onFailure` is told when the content cannot be completed.
  func start(in context: CallContext, onFailure: @escaping @Sendable (any Error) -> Void)
  /// Nothing of it is wanted any more.
  func stop()
}
