public import ApusCore
import HTTPTypes

/// Has every attempt wait for a permit of a ``Scheduler``: limits in all, for each origin and by tag, the urgent first.
///
/// It stands inside retry, so that no permit is held during a back-off, and outside of everything that belongs to the
/// attempt itself, so that its time limits begin with its turn. The deadline of the whole call counts the waiting.
///
/// - A permit covers an attempt until the content of its answer is over, redirects included: they count for the origin
///   that the call was meant for. While it waits for other credentials it has none.
/// - A streamed call (``ApusCore/Client/withResponse(to:_:)``) returns its permit at the response head, since an event
///   stream may stay open for hours. The scheduler does not limit open streams, except by tag: a limit of
///   ``SchedulingLimits/tags`` counts a stream until it ends.
/// - A long poll holds its permit while it waits for the response head, unless it is `.unscheduled()`.
/// - Who goes first is said by ``CallPriority`` and ``SchedulingLimits/ageing``. A slow origin, or a tag that is held,
///   holds up nobody else.
/// - Calls that do work for many others, such as fetching a token (``SharedWorkKey``), need no permit: those that have
///   one may wait for them.
/// - The trace tells what a call waits for, and for how long it did; meanwhile its phase is `waiting`.
public struct Scheduling: Middleware {
  let scheduler: Scheduler

  /// Makes the middleware.
  ///
  /// - Parameter scheduler: gives the permits. Default: one of its own, as for an app.
  public init(_ scheduler: Scheduler = Scheduler()) {
    self.scheduler = scheduler
  }

  /// Waits for a permit and passes the message on.
  ///
  /// - Throws: ``TransportError`` with a ``SchedulingRefusal`` as its cause, which becomes `declined` when too many
  ///   wait, and `timeout` when its turn came too late. `CancellationError` when the call is cancelled while it waits.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let newcomer = newcomer(request, context) else { return try await next(request, context: context) }
    let (permit, cause) = try scheduler.permit(for: newcomer, context)
    if let cause { try await permit.wait(cause, context) }
    do {
      let response = try await next(request, context: holding(permit, context))
      permit.giveBack(after: response.content, context)
      return response
    } catch {
      permit.giveBack(at: context.now)
      throw error
    }
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func newcomer(_ request: RequestMessage, _ context: CallContext) -> SchedulerState.Newcomer? {
    guard context.delivery != .described, !context.values[SharedWorkKey.self], !context.values[UnscheduledKey.self],
      let origin = OriginKey(request.head)
    else { return nil }
    return SchedulerState.Newcomer(
      origin: origin, tags: context.call.tags,
      priority: context.values[CallPriorityKey.self] ?? CallPriority(Task.currentPriority),
      deadline: context.nearestDeadline,
      isTypical: context.delivery == .buffered)
  }

  @inline(never)  // As above.
  private func holding(_ permit: AttemptPermit, _ context: CallContext) -> CallContext {
    // Only a refresh lets go of it meanwhile.
    guard !context.environment.authentications.isEmpty else { return context }
    var context = context
    context.values[AttemptPermitKey.self] = permit
    return context
  }
}
