import ApusCore
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Content that was given as a stream.
protocol OutgoingStream: Sendable {
  /// A task that sends it and does not run yet; asked for once.
  func task(for request: URLRequest, in session: URLSession) throws -> URLSessionTask
  /// The session is about to read; `onFailure` is told when the content cannot be completed.
  func start(in context: ExchangeContext, onFailure: @escaping @Sendable (any Error) -> Void)
  /// Nothing of it is wanted any more.
  func stop()
}
