import ApusURLSession
import LoopbackConformance

extension TransportKind {
  /// Returns ``URLSessionTransport``, with its gaps on this platform.
  static var urlSession: TransportKind {
    let gaps: Set<Gap> =
      URLSessionTransport.knownGaps.contains("malformed responses")
      ? [.brokenAnswers, .strictFraming] : []
    return TransportKind("URLSessionTransport", gaps: gaps.union([.idleConnections])) {
      let transport = URLSessionTransport()
      return Opened(transport) { transport.shutDown() }
    }
  }
}
