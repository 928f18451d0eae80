public import HTTPTypes

/// Sends one request message and returns its final response: one exchange.
///
/// A transport returns for every status and judges none. It follows no redirects and keeps no cookies, no cache and no
/// credentials. When its task is cancelled it closes the exchange and throws `CancellationError` without delay. Every other
/// failure is a ``TransportError`` that says whether the request was sent. Content may still arrive after it returned; only
/// the transport touches the connection.
///
/// The deadline of a call cancels its task. The deadline of an attempt (``ExchangeContext/attemptDeadline``) does not: the
/// transport checks the clock, or sets an alarm (``ExchangeContext/alarm(for:)``), and if the response head has not arrived in
/// time it closes the exchange and throws ``TransportError/attemptTimedOut(in:requestState:)``. Content is not covered.
public protocol Transport: Sendable {
  /// Whether the transport records ``TraceEvent/Kind/connected(reused:)`` before anything of a request is sent, so that a call
  /// that ends earlier counts as not sent.
  ///
  /// Such a transport checks once more, after it has recorded the event and before it writes, whether the exchange is still
  /// wanted. Default: `false`; then every exchange that has begun counts as maybe sent.
  var reportsConnections: Bool { get }

  /// Performs the exchange and returns once the response head has arrived.
  ///
  /// If the context asks for it (``ExchangeContext/collects(_:)``), a transport may collect the content itself and return with
  /// all of it (``ResponseContent/init(collected:trailers:)``), so that its caller is not resumed for every piece.
  ///
  /// - Parameters:
  ///   - request: complete and valid.
  ///   - context: what the call asks for, and where the transport reports to.
  /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled.
  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage
}

extension Transport {
  /// The transport does not report connections.
  public var reportsConnections: Bool { false }
}

/// One exchange as its transport sees it: what the call asks for, and where the transport reports to.
public struct ExchangeContext: Sendable {
  /// One reference, since transports keep the context and pass it on.
  private final class Storage: Sendable {
    let pass: CallContext

    init(_ pass: CallContext) {
      self.pass = pass
    }
  }

  private let storage: Storage

  init(_ pass: CallContext) {
    storage = Storage(pass)
  }

  private var base: Call { storage.pass.base }

  /// Returns the context with a change, as a middleware would have made it; for checks of transports.
  package func changed(_ change: (inout CallContext) -> Void) -> ExchangeContext {
    var pass = storage.pass
    change(&pass)
    return ExchangeContext(pass)
  }

  // MARK: What the call asks for

  /// The call: id, tags, endpoint. For an exchange that several calls share, the call that started it.
  public var call: CallEntry { base.entry }
  /// The number of the attempt, from 1.
  public var attempt: Int { storage.pass.attempt }
  /// The settings of the call, by key, such as ``ExchangeTimeouts``.
  public var values: ContextValues { storage.pass.values }
  /// How the app wants the content.
  public var delivery: ContentDelivery { base.delivery }
  /// The most bytes of content that the call keeps in memory.
  public var contentLimit: Int { base.contentLimit }
  /// The client's clock.
  public var clock: any MonotonicClock { base.runtime.clock }
  /// The instant by which the response head must have arrived; `nil`: the attempt has no limit of its own.
  public var attemptDeadline: MonotonicInstant? { storage.pass.attemptDeadline }

  /// Whether the time of this attempt is up.
  public var isAttemptOver: Bool { storage.pass.isAttemptOver }

  /// Notifies `target` when the time of this attempt is up, see ``CallContext/alarm(for:)``.
  ///
  /// - Returns: `nil` if the attempt has no limit of its own; the target is never notified then.
  public func alarm(for target: any DeadlineTarget) -> DeadlineAlarm? { storage.pass.alarm(for: target) }

  /// Whether sending a message of this call more than once is safe, see ``CallContext/isRepeatable(_:)``.
  public func isRepeatable(_ head: HTTPRequest) -> Bool { storage.pass.isRepeatable(head) }

  /// Whether a response is a redirect that a middleware follows (RFC 9110 §15.4). Its content is not read: it is neither
  /// collected nor decoded.
  public func follows(_ head: HTTPResponse) -> Bool {
    storage.pass.follows(head)
  }

  /// Whether all content of a response must be in memory when the response reaches the pipeline: not for streamed calls, not
  /// for redirects that are followed, and not for 401 that a middleware handles.
  public func collects(_ head: HTTPResponse) -> Bool {
    delivery == .buffered && !follows(head) && !(storage.pass.answersChallenges && head.status == .unauthorized)
  }

  /// Starts work beside the exchange, on the client's executor: content that is made while it is sent.
  ///
  /// The task inherits priority and task-local values, and no actor. It is not cancelled with the call: the transport ends it
  /// with the exchange.
  @discardableResult
  public func spawn(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    base.host.spawner.spawn(work)
  }

  // MARK: What the transport reports

  /// Writes an event into the call's trace.
  public func record(_ kind: TraceEvent.Kind) {
    base.record(kind, attempt: attempt)
  }

  /// Reports how many bytes of the request content have been sent so far.
  public func sent(total: Int64, expected: Int64?) {
    base.sent(total: total, expected: expected)
  }

  /// Reports an interim response (RFC 9110 §15.2): writes it into the trace and calls the call's handler
  /// (``InterimResponses``).
  public func interim(_ head: HTTPResponse) {
    record(.interim(status: head.status.code))
    values[InterimResponses.self]?(head)
  }

  /// Reports the response head. For transports that collect the content themselves
  /// (``ResponseContent/init(collected:trailers:)``); otherwise the pipeline reports it.
  public func headArrived(_ head: HTTPResponse) {
    base.headArrived(head, attempt: attempt)
  }

  /// Reports how many bytes of the response content have arrived since the last report. For transports that collect the
  /// content themselves.
  public func received(_ count: Int) {
    base.received(count)
  }
}
