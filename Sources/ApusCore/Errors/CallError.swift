import HTTPTypes

/// The one error that calls throw: what failed, was it sent, may it be retried, what can be shown.
///
/// ``sentence`` is for the person using the app. ``description`` is for logs: it holds no content, no query, no path
/// values and no fields. An error is a value: it keeps neither its client nor a connection alive. Fakes and services
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

  /// Behind one reference, so that results stay small.
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
  /// Where the call was when it failed.
  public var phase: CallPhase {
    get { storage.failure.phase }
    set { change { failure, _ in failure.phase = newValue } }
  }
  /// Whether the server can have seen the request.
  public var requestState: RequestState {
    get { storage.failure.requestState }
    set { change { failure, _ in failure.requestState = newValue } }
  }
  /// How many attempts were made, 0 when nothing was tried.
  public var attempts: Int {
    get { storage.record.attempts }
    set { change { _, record in record.attempts = newValue } }
  }
  /// The call's id.
  public var id: CallID { storage.record.trace.id }
  /// The endpoint.
  public var endpoint: EndpointIdentity { storage.record.trace.endpoint }
  /// The status of the response, when there was one.
  public var status: Int? { storage.failure.rejection?.status ?? storage.record.head?.status.code }
  /// What the server said when it rejected the call.
  public var rejection: Rejection? {
    get { storage.failure.rejection }
    set { change { failure, _ in failure.rejection = newValue } }
  }
  /// The content of the rejection or of the response that could not be decoded, at most ``contentLimit`` bytes of it.
  public var content: Content? {
    get { storage.failure.content }
    set { change { failure, _ in failure.content = newValue?.bounded } }
  }
  /// How long to wait before the next call, as the server asks (RFC 9110 §10.2.3) or a middleware that refused the
  /// call.
  public var retryAfter: Duration? {
    get { storage.failure.retryAfter }
    set { change { failure, _ in failure.retryAfter = newValue } }
  }
  /// The coding path of the value that failed, for example `items[3].title`, for `encoding` and `decoding`.
  public var place: String? {
    get { storage.failure.codingPath }
    set { change { failure, _ in failure.codingPath = newValue } }
  }
  /// What is known beyond the code, as half a sentence without secrets.
  public var detail: String {
    get { storage.failure.detail }
    set { change { failure, _ in failure.detail = newValue } }
  }
  /// Why the call was cancelled, or which deadline passed.
  public var cancellation: CancellationReason? {
    get { storage.failure.cancellation }
    set { change { failure, _ in failure.cancellation = newValue } }
  }
  /// The error of the platform, a coder or the app's closure. It may hold secrets: not for logs.
  public var underlying: (any Error)? { storage.failure.underlying }
  /// Everything that happened to the call, with its id and its endpoint.
  public var trace: Trace {
    get { storage.record.trace }
    set { change { _, record in record.trace = newValue } }
  }

  /// Whether the call was cancelled or superseded: usually nothing to show.
  public var isCancellation: Bool { code == .cancelled }

  /// The rejection as the endpoint's own type; `nil` when there is none, or when it is of another type.
  public func rejection<Rejected: Sendable>(as type: Rejected.Type) -> Rejected? {
    rejection?.value as? Rejected
  }

  /// The most bytes of a rejected response's content that an error keeps.
  public static let contentLimit = 64 << 10
}

extension CallError {
  /// A coarse kind, for apps that only tell a few cases apart.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// The device has no network.
    case offline
    /// There is a network, and the server cannot be found or reached: its name has no address, or the
    /// connection is refused.
    case unreachable
    /// Apus held the call back, since a circuit is open, a rate limit or a queue is full: the app has made no mistake.
    /// Retry later, where ``CallError/retryAfter`` says when, then.
    case heldBack
    /// Cancelled or superseded.
    case cancelled
    /// A deadline passed.
    case timeout
    /// The server rejected the call and said why.
    case reported
    /// The server rejected the call without a reason, or the exchange failed after it had begun.
    case notReported
    /// The request's values cannot be encoded.
    case encoding
    /// The answer is not what the endpoint promises.
    case decoding
    /// The request cannot be made, or was declined for another reason than that calls are held back.
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
  /// The attempts that failed, in order, each with its time, what it failed with, and what was decided then: how long
  /// to wait and why, or why there was no further one.
  ///
  /// Empty where nothing in the pipeline repeats attempts, and for calls that say so themselves.
  public var failedAttempts: [FailedAttempt] { trace.failedAttempts }

  /// Whether there would have been another attempt, had its server's budget for them not been used up by others.
  public var isRetryBudgetExhausted: Bool {
    failedAttempts.last?.decision == .end(.budgetExhausted)
  }
}
