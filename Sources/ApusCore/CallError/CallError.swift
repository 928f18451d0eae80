import HTTPTypes

/// The error that calls throw: the kind of failure, whether the request was sent, when to retry, and a message for
/// people.
///
/// ``message`` is for the person using the app. ``description`` is for logs: it contains no content (body), query,
/// path values or fields (headers). An error keeps neither its client nor a connection alive. Fakes and services can
/// create errors:
///
/// ```swift
/// struct NoUsers {
///   func user(_ id: Int) async throws(CallError) -> User {
///     throw CallError(.rejected, status: 404, message: "There is no such user.")
///   }
/// }
/// ```
public struct CallError: Error, Sendable {
  /// A box, so that an error has the size of one reference.
  final class Storage: Sendable {
    let failure: CallFailure
    let record: CallRecord

    init(_ failure: CallFailure, _ record: CallRecord) {
      self.failure = failure
      self.record = record
    }
  }

  private(set) var storage: Storage

  init(_ failure: CallFailure, _ record: CallRecord) {
    storage = Storage(failure, record)
  }

  private mutating func change(_ change: (inout CallFailure, inout CallRecord) -> Void) {
    var (failure, record) = (storage.failure, storage.record)
    change(&failure, &record)
    storage = Storage(failure, record)
  }

  /// The kind of failure.
  public var code: Code { storage.failure.code }
  /// The phase of the call when it failed.
  public package(set) var phase: CallPhase {
    get { storage.failure.phase }
    set { change { failure, _ in failure.phase = newValue } }
  }
  /// Whether the server may have seen the request.
  public package(set) var requestState: RequestState {
    get { storage.failure.requestState }
    set { change { failure, _ in failure.requestState = newValue } }
  }
  /// The number of attempts. 0 if there was none. An immediate retry of a request that was not sent counts toward this
  /// number, but not toward the maximum of the retry policy.
  public package(set) var attempts: Int {
    get { storage.record.attempts }
    set { change { _, record in record.attempts = newValue } }
  }
  /// The call's id.
  public var id: CallID { storage.record.trace.id }
  /// The endpoint.
  public var endpoint: EndpointIdentity { storage.record.trace.endpoint }
  /// The status of the response, or `nil` if there was no response.
  public var status: Int? { storage.failure.rejection?.status ?? storage.record.head?.status.code }
  /// The server's rejection with its reason, or `nil` if the server did not reject the call.
  public var rejection: Rejection? {
    get { storage.failure.rejection }
    set { change { failure, _ in failure.rejection = newValue } }
  }
  /// At most 64 KiB of the content of a rejection, of a response that could not be decoded, or of a success (2xx) for a
  /// request that was not sent completely.
  public package(set) var content: Content? {
    get { storage.failure.content }
    set { change { failure, _ in failure.content = newValue?.bounded } }
  }
  /// The delay before the next call, as requested by the server (RFC 9110 §10.2.3) or by a middleware that refused
  /// the call.
  public var retryAfter: Duration? {
    get { storage.failure.retryAfter }
    set { change { failure, _ in failure.retryAfter = newValue } }
  }
  /// The coding path of the value that failed, for example `items[3].title`, for `encoding` and `decoding`.
  public package(set) var codingPath: String? {
    get { storage.failure.codingPath }
    set { change { failure, _ in failure.codingPath = newValue } }
  }
  /// Details of the failure, as a clause without secrets. Empty if there are none.
  public package(set) var detail: String {
    get { storage.failure.detail }
    set { change { failure, _ in failure.detail = newValue } }
  }
  /// The reason why the call was cancelled, or the deadline that passed.
  public package(set) var cancellation: CancellationReason? {
    get { storage.failure.cancellation }
    set { change { failure, _ in failure.cancellation = newValue } }
  }
  /// The error of the platform, a coder or the app's closure. Do not log it: it may contain secrets.
  public var underlying: (any Error)? { storage.failure.underlying }
  /// The trace of the call.
  public package(set) var trace: Trace {
    get { storage.record.trace }
    set { change { _, record in record.trace = newValue } }
  }

  /// Whether the call was cancelled or superseded. Apps usually do not show such an error.
  public var isCancellation: Bool { code == .cancelled }

  /// Returns the rejection as the type declared by the endpoint, or `nil` if there is no rejection or it has another
  /// type.
  public func rejection<Rejected: Sendable>(as type: Rejected.Type) -> Rejected? {
    rejection?.value as? Rejected
  }

  /// The maximum number of content bytes that an error keeps: 64 KiB.
  package static let contentLimit = 64 << 10
}

extension CallError {
  /// Whether no connection to the server was established: there is no network, the host has no address, or the
  /// connection failed. Apps usually ask the person to check the network.
  public var isUnreachable: Bool {
    switch code {
    case .offline, .hostNotFound, .connectionFailed: true
    default: false
    }
  }

  /// Whether Apus refused the call for now, to protect the server or the app: a circuit is open, a rate limit is
  /// exhausted or a queue is full. Retry later, or after ``retryAfter``. The code is then `refused`.
  public var isThrottled: Bool { code == .refused && storage.failure.subject == .trafficControl }

  /// The failed attempts in order, see ``Trace/failedAttempts``.
  package var failedAttempts: [FailedAttempt] { trace.failedAttempts }
}
