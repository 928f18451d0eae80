import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The one delegate of a session: finds the exchange of a task and passes the event on.
///
/// Called on the session's serial queue. Events of tasks that nobody waits for any more fall to the ground.
final class SessionBridge: NSObject, URLSessionDataDelegate, Sendable {
  let trust: URLSessionTransport.Trust
  let exchanges = Mutex<[Int: Exchange]>([:])

  init(trust: URLSessionTransport.Trust) {
    self.trust = trust
  }

  func exchange(of task: URLSessionTask) -> Exchange? {
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
      // Anything else hangs or ends the process. The 401 and its content have been passed on before.
      exchange(of: task)?.refuseChallenge()
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #else
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      switch trust.answer(to: challenge) {
      case .system: completionHandler(.performDefaultHandling, nil)
      // Passwords come from the pipeline, never from a store of the system's.
      case .none: completionHandler(.rejectProtectionSpace, nil)
      case .credential(let credential): completionHandler(.useCredential, credential)
      case .refused(let reason):
        exchange(of: task)?.end(.untrusted(reason))
        completionHandler(.cancelAuthenticationChallenge, nil)
      }
    }
  #endif
}
