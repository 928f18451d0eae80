import HTTPTypes

/// The one error that calls throw: what failed, was it sent, may it be tried again, what can be shown.
///
/// ``errorDescription`` is a sentence for the person using the app. ``description`` is for logs: it holds
/// no content, no query, no path values and no fields.
public struct CallError: Error, Sendable {
  /// What failed: a stable label, also for metrics.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request cannot be made: base URL, path, field, setting.
    case invalidRequest
    /// The content or the query cannot be encoded.
    case encoding
    /// Apus did not start the call, or did not go on with it. Its id is in use, it needs credentials and there are
    /// none, or the transport is shut down. Or calls are held back for now, and the category is
    /// ``CallError/Category/offline``: a circuit is open, a rate limit would let it pass too late, or too many wait for
    /// their turn or for a connection.
    case declined
    /// The device has no network.
    case offline
    /// The host's name has no address.
    case hostNotFound
    /// Nobody accepted the connection.
    case connectionFailed
    /// The secure connection could not be made.
    case tls
    /// A deadline passed; ``CallError/phase`` says where the call was.
    case timeout
    /// The call was cancelled or superseded; ``CallError/cancellation`` says why.
    case cancelled
    /// The exchange broke off.
    case broken
    /// The answer breaks the rules of HTTP, or is a redirect that is not followed: it leads in circles, to a place that
    /// is not allowed, or nowhere.
    case malformedResponse
    /// The answer is larger than allowed.
    case contentTooLarge
    /// The server refused: by status, or in an envelope.
    case rejected
    /// The answer is not what the endpoint promises.
    case decoding
    /// The app's own closure threw.
    case handler
  }

  final class Storage: Sendable {
    let code: Code
    let phase: CallPhase
    let requestState: RequestState
    let detail: String
    let place: String?
    let cancellation: CancellationReason?
    let rejection: Rejection?
    let content: Content?
    let retryAfter: Duration?
    let underlying: (any Error)?
    let subject: TransportError.Subject
    let call: Call

    init(_ facts: Facts, call: Call) {
      code = facts.code
      phase = facts.phase
      requestState = facts.requestState
      detail = facts.detail
      place = facts.place
      cancellation = facts.cancellation
      rejection = facts.rejection
      content = facts.content
      retryAfter = facts.retryAfter
      underlying = facts.underlying
      subject = facts.subject
      self.call = call
    }
  }

  /// What is known of a failure while it is being put together.
  struct Facts {
    var code: Code
    var phase: CallPhase
    var requestState: RequestState
    var detail = ""
    var place: String?
    var cancellation: CancellationReason?
    var rejection: Rejection?
    var content: Content?
    var retryAfter: Duration?
    var underlying: (any Error)?
    var subject = TransportError.Subject.server
  }

  let storage: Storage

  init(_ facts: Facts, call: Call) {
    storage = Storage(facts, call: call)
  }

  /// What failed.
  public var code: Code { storage.code }
  /// Where the call was when it failed.
  public var phase: CallPhase { storage.phase }
  /// Whether the server can have seen the request.
  public var requestState: RequestState { storage.requestState }
  /// How many attempts were made, 0 when nothing was tried.
  public var attempts: Int { storage.call.attempts }
  /// The call's id.
  public var id: CallID { storage.call.id }
  /// The endpoint.
  public var endpoint: EndpointIdentity { storage.call.endpoint }
  /// The status of the answer, when there was one.
  public var status: Int? { storage.rejection?.status ?? storage.call.entry.head?.status.code }
  /// What the server said when it refused.
  public var rejection: Rejection? { storage.rejection }
  /// The content of the refused or undecodable answer, at most ``contentLimit`` bytes of it.
  public var content: Content? { storage.content }
  /// How long to wait before the next try, as the server asks (RFC 9110 §10.2.3) or a middleware that refused the call.
  public var retryAfter: Duration? { storage.retryAfter }
  /// Where in a value, for example `items[3].title`, for `encoding` and `decoding`.
  public var place: String? { storage.place }
  /// What is known beyond the code, as half a sentence without secrets.
  public var detail: String { storage.detail }
  /// Why the call was cancelled, or which deadline passed.
  public var cancellation: CancellationReason? { storage.cancellation }
  /// The error of the platform, a coder or the app's closure. It may hold secrets: not for logs.
  public var underlying: (any Error)? { storage.underlying }
  /// Everything that happened to the call.
  public var trace: Trace { storage.call.trace }

  /// Whether the call was cancelled or superseded: usually nothing to show.
  public var isCancellation: Bool { code == .cancelled }

  /// The refusal as the endpoint's own type; `nil` when it is none, or is of another type.
  public func rejection<Rejected: Sendable>(as type: Rejected.Type) -> Rejected? {
    storage.rejection?.value as? Rejected
  }

  /// The most bytes of a refused answer that an error keeps.
  public static let contentLimit = 64 << 10
}
