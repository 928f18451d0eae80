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
  /// The kind of failure: a stable label for code and metrics.
  public typealias Code = ErrorCode

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
  public var phase: CallPhase {
    get { storage.failure.phase }
    set { change { failure, _ in failure.phase = newValue } }
  }
  /// Whether the server may have seen the request.
  public var requestState: RequestState {
    get { storage.failure.requestState }
    set { change { failure, _ in failure.requestState = newValue } }
  }
  /// The number of attempts. 0 if there was none.
  public var attempts: Int {
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
  /// The first ``contentLimit`` bytes of the content of a rejection, of a response that could not be decoded, or of a
  /// success (2xx) after which the request was not sent completely.
  public var content: Content? {
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
  public var codingPath: String? {
    get { storage.failure.codingPath }
    set { change { failure, _ in failure.codingPath = newValue } }
  }
  /// Details of the failure, as a clause without secrets. Empty if there are none.
  public var detail: String {
    get { storage.failure.detail }
    set { change { failure, _ in failure.detail = newValue } }
  }
  /// The reason why the call was cancelled, or the deadline that passed.
  public var cancellation: CancellationReason? {
    get { storage.failure.cancellation }
    set { change { failure, _ in failure.cancellation = newValue } }
  }
  /// The error of the platform, a coder or the app's closure. Do not log it: it may contain secrets.
  public var underlying: (any Error)? { storage.failure.underlying }
  /// The trace of the call.
  public var trace: Trace {
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
  public static let contentLimit = 64 << 10
}

extension CallError {
  /// A coarse classification of errors, for apps that distinguish only a few kinds.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// The device has no network.
    case offline
    /// The server cannot be found or reached: its name has no address, or the connection is refused.
    case unreachable
    /// Apus refused the call: a circuit is open, a rate limit is exhausted or a queue is full. Retry later, or after
    /// ``CallError/retryAfter``.
    case refused
    /// The call was cancelled or superseded.
    case cancelled
    /// A deadline or timeout passed.
    case timeout
    /// The server rejected the call and gave a reason.
    case rejected
    /// The server rejected the call without a reason, the TLS connection could not be established, or the exchange
    /// failed after it began.
    case serverFailure
    /// The values of the request cannot be encoded.
    case encoding
    /// The response does not match the type that the endpoint declares.
    case decoding
    /// The request is invalid, or was refused for a reason that is not temporary.
    case invalidRequest
    /// A closure of the app threw.
    case handler
  }

  /// The category of this error.
  public var category: Category {
    switch code {
    case .offline: .offline
    case .hostNotFound, .connectionFailed: .unreachable
    case .cancelled: .cancelled
    case .timeout: .timeout
    case .rejected: rejection?.isExplained == true || storage.failure.message != nil ? .rejected : .serverFailure
    case .connectionLost, .tls, .malformedResponse, .contentTooLarge: .serverFailure
    case .encoding: .encoding
    case .decoding: .decoding
    case .invalidRequest: .invalidRequest
    case .refused: storage.failure.subject == .trafficControl ? .refused : .invalidRequest
    case .handler: .handler
    }
  }
}

extension CallError {
  /// The failed attempts in order, each with its time, its cause and the decision that followed: a retry after a
  /// delay, or the reason for giving up.
  ///
  /// Empty if retries are turned off in the pipeline or for this call.
  public var failedAttempts: [FailedAttempt] { trace.failedAttempts }

  /// Whether the call was not retried because the retry budget of its origin was exhausted.
  public var isRetryBudgetExhausted: Bool {
    failedAttempts.last?.decision == .giveUp(.budgetExhausted)
  }
}
