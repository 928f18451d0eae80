import HTTPTypes

/// The error that calls throw: what failed, whether the request was sent, whether to retry, what to show.
///
/// ``sentence`` is for the person using the app. ``description`` is for logs: it holds no content (body), query, path
/// values or fields (headers). An error is a value: it keeps neither its client nor a connection alive. Fakes and services
/// make their own:
///
/// ```swift
/// struct NoUsers {
///   func user(_ id: Int) async throws(CallError) -> User {
///     throw CallError(.rejected, status: 404, sentence: "There is no such user.")
///   }
/// }
/// ```
public struct CallError: Error, Sendable {
  /// What failed: a stable label for code and metrics.
  public typealias Code = ErrorCode

  /// One reference, so that results stay small.
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

  /// What failed.
  public var code: Code { storage.failure.code }
  /// The stage of the call when it failed.
  public var phase: CallPhase {
    get { storage.failure.phase }
    set { change { failure, _ in failure.phase = newValue } }
  }
  /// Whether the server can have seen the request.
  public var requestState: RequestState {
    get { storage.failure.requestState }
    set { change { failure, _ in failure.requestState = newValue } }
  }
  /// The number of attempts; 0 if there was none.
  public var attempts: Int {
    get { storage.record.attempts }
    set { change { _, record in record.attempts = newValue } }
  }
  /// The call's id.
  public var id: CallID { storage.record.trace.id }
  /// The endpoint.
  public var endpoint: EndpointIdentity { storage.record.trace.endpoint }
  /// The status of the response; `nil`: there was none.
  public var status: Int? { storage.failure.rejection?.status ?? storage.record.head?.status.code }
  /// What the server said when it rejected the call.
  public var rejection: Rejection? {
    get { storage.failure.rejection }
    set { change { failure, _ in failure.rejection = newValue } }
  }
  /// The content of the rejection, or of the response that could not be decoded: at most its first ``contentLimit`` bytes.
  public var content: Content? {
    get { storage.failure.content }
    set { change { failure, _ in failure.content = newValue?.bounded } }
  }
  /// The time to wait before the next call, as the server asks (RFC 9110 §10.2.3) or a middleware that refused the call.
  public var retryAfter: Duration? {
    get { storage.failure.retryAfter }
    set { change { failure, _ in failure.retryAfter = newValue } }
  }
  /// The coding path of the value that failed, for example `items[3].title`, for `encoding` and `decoding`.
  public var place: String? {
    get { storage.failure.codingPath }
    set { change { failure, _ in failure.codingPath = newValue } }
  }
  /// What is known besides the code, as half a sentence without secrets.
  public var detail: String {
    get { storage.failure.detail }
    set { change { failure, _ in failure.detail = newValue } }
  }
  /// Why the call was cancelled, or which deadline passed.
  public var cancellation: CancellationReason? {
    get { storage.failure.cancellation }
    set { change { failure, _ in failure.cancellation = newValue } }
  }
  /// The error of the platform, a coder or the app's closure. It may hold secrets: do not log it.
  public var underlying: (any Error)? { storage.failure.underlying }
  /// The trace of the call.
  public var trace: Trace {
    get { storage.record.trace }
    set { change { _, record in record.trace = newValue } }
  }

  /// Whether the call was cancelled or superseded. There is usually nothing to show then.
  public var isCancellation: Bool { code == .cancelled }

  /// Returns the rejection as the endpoint's own type; `nil` if there is none or it has another type.
  public func rejection<Rejected: Sendable>(as type: Rejected.Type) -> Rejected? {
    rejection?.value as? Rejected
  }

  /// The most bytes of content that an error keeps.
  public static let contentLimit = 64 << 10
}

extension CallError {
  /// A coarse kind of error, for apps that distinguish only a few.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// The device has no network.
    case offline
    /// The server cannot be found or reached: its name has no address, or the connection is refused.
    case unreachable
    /// Apus held the call back: a circuit is open, a rate limit is exhausted or a queue is full. Retry later, or at
    /// ``CallError/retryAfter``.
    case heldBack
    /// Cancelled or superseded.
    case cancelled
    /// A deadline or timeout passed.
    case timeout
    /// The server rejected the call and gave a reason.
    case reported
    /// The server rejected the call without a reason, or the exchange failed after it began.
    case notReported
    /// The values of the request cannot be encoded.
    case encoding
    /// The response is not what the endpoint promises.
    case decoding
    /// The request cannot be made, or was refused for a reason that is not temporary.
    case invalidRequest
    /// The app's own closure threw.
    case handler
  }

  /// The coarse kind of this error.
  public var category: Category {
    switch code {
    case .offline: .offline
    case .hostNotFound, .connectionFailed: .unreachable
    case .cancelled: .cancelled
    case .timeout: .timeout
    case .rejected: rejection?.isReported == true || storage.failure.sentence != nil ? .reported : .notReported
    case .broken, .tls, .malformedResponse, .contentTooLarge: .notReported
    case .encoding: .encoding
    case .decoding: .decoding
    case .invalidRequest: .invalidRequest
    case .declined: storage.failure.subject == .control ? .heldBack : .invalidRequest
    case .handler: .handler
    }
  }
}

extension CallError {
  /// The attempts that failed, in order, each with its time, its failure and the decision that followed: retry after a delay,
  /// or give up for a reason.
  ///
  /// Empty if the pipeline does not retry, or not for this call.
  public var failedAttempts: [FailedAttempt] { trace.failedAttempts }

  /// Whether the call was not retried because the retry budget of its server was exhausted.
  public var isRetryBudgetExhausted: Bool {
    failedAttempts.last?.decision == .end(.budgetExhausted)
  }
}
