import ApusCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of the platform, with a delegate that delivers its events to exchanges.
final class OpenSession: ExchangeOwner {
  private let session: URLSession
  private let bridge: SessionBridge
  /// The origins that have responded. `nil` if there are too many to store.
  private let respondedOrigins = Mutex<Set<Origin>?>([])
  /// Called when the only exchange of an unshared session has ended.
  private let onEnd: (@Sendable (OpenSession) -> Void)?

  init(
    options: URLSessionTransport.Options, queue: OperationQueue, onEnd: (@Sendable (OpenSession) -> Void)? = nil
  ) {
    bridge = SessionBridge(trust: options.trust)
    session = URLSession(configuration: .apus(options), delegate: bridge, delegateQueue: queue)
    self.onEnd = onEnd
  }

  func exchange(for request: PlatformRequest, context: ExchangeContext) throws -> SessionExchange {
    let task = try request.outgoing.task(for: request.urlRequest, in: session)
    let exchange = SessionExchange(task: task, owner: self, request: request, context: context)
    bridge.exchanges.withLock { $0[task.taskIdentifier] = exchange }
    return exchange
  }

  func forget(_ task: URLSessionTask) {
    // The exchange is released outside of the lock.
    let exchange = bridge.exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    withExtendedLifetime(exchange) { onEnd?(self) }
  }

  private static let rememberedOrigins = 1024

  func responded(_ origin: Origin) {
    respondedOrigins.withLock { origins in
      origins?.insert(origin)
      if let count = origins?.count, count > Self.rememberedOrigins { origins = nil }
    }
  }

  func mayReuseConnection(to origin: Origin) -> Bool {
    respondedOrigins.withLock { $0?.contains(origin) ?? true }
  }

  /// Ends every exchange and closes the connections.
  func close() {
    // Callers are resumed before tasks are cancelled, because the platform does not report the end of every cancelled
    // task.
    for exchange in bridge.exchanges.withLock({ Array($0.values) }) { exchange.end(.shutDown) }
    session.invalidateAndCancel()
  }

  /// Closes the connections of a session whose exchanges have ended.
  func finish() {
    session.finishTasksAndInvalidate()
  }
}

extension URLSessionConfiguration {
  /// A timeout longer than any call: the client enforces deadlines, to the fraction of a second.
  private static let never: TimeInterval = 7 * 24 * 3600

  /// Returns the configuration of a session without cookies, cache, credentials and timeouts.
  fileprivate static func apus(_ options: URLSessionTransport.Options) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = max(1, options.maximumConnectionsPerHost)
    configuration.timeoutIntervalForRequest = never
    configuration.timeoutIntervalForResource = never
    #if canImport(Security)
    configuration.apply(options)
    #endif
    return configuration
  }
}

/// The delegate of a session: delivers each event of a task to its exchange.
///
/// Called on the session's serial queue. Events of tasks without an exchange are ignored.
final class SessionBridge: NSObject, URLSessionDataDelegate, Sendable {
  let trust: URLSessionTransport.Trust
  let exchanges = Mutex<[Int: SessionExchange]>([:])

  init(trust: URLSessionTransport.Trust) {
    self.trust = trust
  }

  func exchange(of task: URLSessionTask) -> SessionExchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.receive(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    exchange(of: task)?.measured(metrics)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    exchange(of: task)?.taskEnded(error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    exchange(of: task)?.sent(totalBytesSent, expected: totalBytesExpectedToSend)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    exchange(of: task)?.refuseRedirect { completionHandler(nil) }
  }

  #if !canImport(Security)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    // Any other disposition hangs or crashes the process. The 401 and its content were delivered already.
    exchange(of: task)?.refuseChallenge()
    completionHandler(.cancelAuthenticationChallenge, nil)
  }
  #else
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    switch trust.response(to: challenge) {
    case .system: completionHandler(.performDefaultHandling, nil)
    // Passwords come from the pipeline, never from the system's store.
    case .none: completionHandler(.rejectProtectionSpace, nil)
    case .credential(let credential): completionHandler(.useCredential, credential)
    case .refused(let reason):
      exchange(of: task)?.end(.untrusted(reason))
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  }
  #endif
}
