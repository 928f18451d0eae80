/// The server that a transport's conformance is checked against: an adapter of whatever server a test has.
///
/// It answers by path as the check tells it, and tells what it received. All waiting ends when the task is cancelled.
public protocol ConformanceServer: Sendable {
  /// Where it listens, for example `http://127.0.0.1:49152`.
  var baseURL: String { get }

  /// A place where nobody accepts a connection.
  var refusingURL: String { get }

  /// Answers every request from now on whose path (the target up to `?`) is `path`; all others get a 404.
  func answer(_ path: String, _ reply: ConformanceReply) async

  /// Lets replies go on that are held, now and later.
  func release() async

  /// The requests received completely, in order of arrival.
  var requests: [ConformanceRequest] { get async }

  /// Waits until a request with this path has been received completely, and gives the first.
  func waitForRequest(_ path: String) async throws -> ConformanceRequest

  /// Waits until the client has given up the exchange with this path before its reply was complete; only asked
  /// for paths that one request was sent to.
  ///
  /// - Throws: ``ConformanceFailure`` when the exchange ended in another way.
  func waitForClose(_ path: String) async throws

  /// Whether the reply to the first request with this path has been given to the network completely.
  func isAnswered(_ path: String) async -> Bool
}
