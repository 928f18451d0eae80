import ApusCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A session of the platform with the bridge that is its only delegate.
final class OpenSession: Sendable {
  private let session: URLSession
  private let bridge: SessionBridge
  /// Told when the one exchange of a session that is not shared is over.
  private let onEnd: (@Sendable (OpenSession) -> Void)?

  init(
    options: URLSessionTransport.Options, queue: OperationQueue, onEnd: (@Sendable (OpenSession) -> Void)? = nil
  ) {
    bridge = SessionBridge(trust: options.trust)
    session = URLSession(configuration: .apus(options), delegate: bridge, delegateQueue: queue)
    self.onEnd = onEnd
  }

  func exchange(for request: PreparedRequest, context: ExchangeContext) throws -> Exchange {
    let task = try request.outgoing.task(for: request.urlRequest, in: session)
    let exchange = Exchange(task: task, session: self, request: request, context: context)
    bridge.exchanges.withLock { $0[task.taskIdentifier] = exchange }
    return exchange
  }

  func forget(_ task: URLSessionTask) {
    // Released outside the lock.
    let exchange = bridge.exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    withExtendedLifetime(exchange) { onEnd?(self) }
  }

  /// Ends every exchange and closes the connections.
  func close() {
    // Answered here first: the platform is not trusted to report every task it stops.
    for exchange in bridge.exchanges.withLock({ Array($0.values) }) { exchange.end(.shutDown) }
    session.invalidateAndCancel()
  }

  /// Closes the connections of a session whose exchanges are over.
  func finish() {
    session.finishTasksAndInvalidate()
  }
}

extension URLSessionConfiguration {
  /// Longer than anything anybody waits for: deadlines are kept by the client, to the fraction of a second.
  private static let never: TimeInterval = 7 * 24 * 3600

  /// A session that does nothing on its own.
  fileprivate static func apus(_ options: URLSessionTransport.Options) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = max(1, options.connectionsPerHost)
    configuration.timeoutIntervalForRequest = never
    configuration.timeoutIntervalForResource = never
    #if canImport(Security)
      configuration.apply(options)
    #endif
    return configuration
  }
}
