public import ApusCore

/// Limits a whole call: waiting, every attempt, every redirect and the content count.
///
/// The call's own `timeout` wins over the default. Calls that stream have no limit unless they set one: how long
/// a transfer may take is not known beforehand. A deadline that the call inherits (``ApusCore/withDeadline(_:on:_:)``)
/// stays in force where it is nearer. It costs no task (see ``CallContext/limit(to:)``).
public struct TotalDeadline: Middleware {
  let standard: Duration?

  /// Makes the deadline.
  ///
  /// - Parameter standard: the limit of buffered calls that set none; `nil`: no limit. Default: 30 seconds.
  public init(standard: Duration? = .seconds(30)) {
    self.standard = standard
  }

  /// Sets the deadline and passes the message on.
  ///
  /// - Throws: ``TransportError``, which becomes `timeout`, when there is no time at all: nothing is sent then.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let limit = context.timeout ?? (context.delivery == .buffered ? standard : nil) else {
      return try await next(request, context: context)
    }
    guard limit > .zero else { throw TransportError(.timedOut(.waiting), requestState: .notSent) }
    var context = context
    context.limit(to: context.startInstant.advanced(by: limit))
    return try await next(request, context: context)
  }
}
