public import HTTPTypes

/// A type that performs exchanges: it sends a request message and returns the final response.
///
/// A transport returns the response for every status. It follows no redirects and keeps no cookies, no cache and no
/// credentials. When its task is cancelled it closes the exchange and throws `CancellationError` without delay. Every
/// other failure is a ``TransportError`` that states whether the request was sent. Content (body) may still arrive
/// after ``send(_:context:)`` has returned. Only the transport uses the connection.
///
/// The deadline of a call cancels its task. The deadline of an attempt (``ExchangeContext/attemptDeadline``) does
/// not: the transport checks the clock, or sets an alarm (``ExchangeContext/alarm(for:)``), and if the response head
/// has not arrived in time it closes the exchange and throws ``TransportError/attemptTimedOut(in:requestState:)``.
/// This deadline does not cover content.
public protocol Transport: Sendable {
  /// Whether the transport records ``TraceEvent/Kind/connected(reused:_:)`` before it sends any part of a request, so
  /// that a call that ends earlier counts as not sent.
  ///
  /// Such a transport must check again, after it has recorded the event and before it writes, whether the exchange is
  /// still needed. Default: `false`; every exchange that has begun then counts as possibly sent.
  var reportsConnections: Bool { get }

  /// Performs the exchange and returns once the response head has arrived.
  ///
  /// - Parameters:
  ///   - request: the request message, complete and valid.
  ///   - context: the options of the call, and the methods with which the transport reports progress.
  /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled.
  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage
}

/// A transport with threads of its own, on which a call may continue when its response has arrived.
package protocol ContinuingTransport: Transport {
  /// The executor on which the work of a call continues after its first suspension, unless the client has its own
  /// executor (``Runtime/executor``).
  var continuationExecutor: any TaskExecutor { get }
}

extension Transport {
  /// The transport does not report connections.
  public var reportsConnections: Bool { false }
}

/// The context of one exchange: the options of the call, and the methods with which the transport reports progress.
public struct ExchangeContext: Sendable {
  /// A box, because transports store the context and pass it on.
  private final class Storage: Sendable {
    let callContext: CallContext

    init(_ callContext: CallContext) {
      self.callContext = callContext
    }
  }

  private let storage: Storage

  init(_ callContext: CallContext) {
    storage = Storage(callContext)
  }

  private var owner: Call { storage.callContext.owner }

  /// Returns the context with a change, as if made by a middleware. For tests of transports.
  package func changed(_ change: (inout CallContext) -> Void) -> ExchangeContext {
    var callContext = storage.callContext
    change(&callContext)
    return ExchangeContext(callContext)
  }

  // MARK: The options of the call

  /// The call: id, tags, endpoint. For an exchange that several calls share, the call that started it.
  public var call: CallEntry { owner.entry }
  /// The number of the attempt, from 1.
  public var attempt: Int { storage.callContext.attempt }
  /// The settings of the call, by key, such as ``ExchangeTimeouts``.
  public var values: ContextValues { storage.callContext.values }
  /// The way the content of the response is delivered.
  package var delivery: ContentDelivery { owner.delivery }
  /// The maximum number of content bytes that the call reads into memory.
  public var contentLimit: Int { owner.contentLimit }
  /// The client's clock.
  public var clock: any MonotonicClock { owner.runtime.clock }
  /// The instant by which the response head must have arrived, or `nil` if the attempt has no deadline.
  public var attemptDeadline: MonotonicInstant? { storage.callContext.attemptDeadline }

  /// Whether the deadline of this attempt has passed.
  package var isAttemptOver: Bool { storage.callContext.isAttemptOver }

  /// Notifies `target` when the deadline of this attempt passes, see ``CallContext/alarm(for:)``.
  ///
  /// - Returns: the alarm, or `nil` if the attempt has no deadline. The target is never notified then.
  public func alarm(for target: any DeadlineTarget) -> DeadlineAlarm? { storage.callContext.alarm(for: target) }

  /// Returns the origin of a request, or `nil` if its head has no valid authority. The origin of the base URL, to which
  /// most requests go, is not parsed again.
  package func origin(of request: RequestMessage) -> Origin? {
    if case .success(let home) = owner.prepared.baseURL, request.head.scheme == home.origin.scheme,
      request.head.authority == home.authority
    {
      return home.origin
    }
    return request.origin
  }

  /// Whether a message of this call may be sent more than once, see ``CallContext/isRepeatable(_:)``.
  public func isRepeatable(_ head: HTTPRequest) -> Bool { storage.callContext.isRepeatable(head) }

  /// Whether a response is a redirect that a middleware follows (RFC 9110 §15.4). The content of such a response is
  /// neither collected nor decoded.
  package func followsRedirect(_ head: HTTPResponse) -> Bool {
    storage.callContext.follows(head)
  }

  /// Whether all content of a response must be in memory when the response reaches the pipeline. `false` for streamed
  /// calls, for redirects that are followed, and for 401 responses that a middleware handles.
  package func collectsContent(of head: HTTPResponse) -> Bool {
    delivery == .buffered && !followsRedirect(head)
      && !(storage.callContext.answersChallenges && head.status == .unauthorized)
  }

  /// Starts a task on the client's executor, for work during the exchange, such as producing content while it is
  /// sent.
  ///
  /// The task inherits priority and task-local values, but no actor. It is not cancelled with the call; the transport
  /// must end it with the exchange.
  @discardableResult
  public func spawn(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    owner.host.spawner.spawn(work)
  }

  // MARK: Progress reports of the transport

  /// Adds an event to the call's trace.
  public func record(_ kind: TraceEvent.Kind) {
    owner.record(kind, attempt: attempt)
  }

  /// Reports the number of request content bytes sent so far.
  public func reportSent(total: Int64, expected: Int64?) {
    owner.sent(total: total, expected: expected)
  }

  /// Reports an interim response (RFC 9110 §15.2): adds it to the trace and calls the call's handler
  /// (``InterimResponses``).
  public func reportInterim(_ head: HTTPResponse) {
    record(.interim(status: head.status.code))
    values[InterimResponses.self]?(head)
  }

  /// Reports the response head. For transports that collect the content themselves
  /// (``ResponseContent/init(collected:trailers:)``); otherwise the pipeline reports the head.
  package func reportHead(_ head: HTTPResponse) {
    owner.headArrived(head, attempt: attempt)
  }

  /// Reports the number of response content bytes received since the last report. For transports that collect the
  /// content themselves.
  package func reportReceived(_ count: Int) {
    owner.received(count)
  }
}

/// The identifier of the transfer that a call belongs to. With this identifier, a transport whose exchanges outlive the
/// process finds the exchange of an earlier process. Default: `nil`, a call that ends with its process.
package enum BackgroundTransferKey: ContextKey {
  package static let defaultValue: String? = nil
  package static let affectsCoalescing = false
}
