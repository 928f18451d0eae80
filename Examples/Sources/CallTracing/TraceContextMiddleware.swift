public import Apus

/// The key for the call's trace context.
enum TraceContextKey: ContextKey {
  static let defaultValue: TraceContext? = nil
}

extension Endpoint {
  /// Continues a trace, for example that of a request that a server handles, instead of starting a new trace.
  public func continuing(_ trace: TraceContext?) -> Request<Value> { setting(TraceContextKey.self, trace) }
}

/// A middleware that adds the field (header) `traceparent` to each exchange with an allowed origin.
///
/// All exchanges of a call have the same trace ID, and each has a different parent ID, so that a tracing system
/// displays retries and redirects as separate operations of one trace. Other origins get no field, because trace IDs
/// would let them correlate users. A `traceparent` field of the endpoint is not replaced.
public struct TraceContextMiddleware: Middleware {
  /// The origins that get the field, besides that of the environment's base URL.
  private let origins: Set<Origin>

  /// A description with the number of allowed origins.
  public var summary: String { "origins besides the base URL's: \(origins.count)" }

  /// Creates the middleware. ``Pipeline/insertTraceContext(isSampled:origins:)`` inserts it.
  init(origins: Set<Origin>) {
    self.origins = origins
  }

  /// Adds the field and passes the message on.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let trace = context.values[TraceContextKey.self], let origin = request.origin,
      origins.contains(origin) || origin == context.environment.baseURL.origin
    else { return try await next(request, context: context) }
    var request = request
    try request.addField(RawField("traceparent", trace.child(context.random).value))
    return try await next(request, context: context)
  }
}

/// A middleware that starts a trace for each call that does not continue one.
struct TraceStartMiddleware: Middleware {
  let isSampled: Bool

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.values[TraceContextKey.self] == nil else { return try await next(request, context: context) }
    var context = context
    context.values[TraceContextKey.self] = TraceContext(random: context.random, isSampled: isSampled)
    return try await next(request, context: context)
  }
}

extension Pipeline {
  /// Adds `traceparent` to the exchanges with allowed origins.
  ///
  /// - Parameters:
  ///   - isSampled: whether the traces that are started here are recorded. Default: `true`.
  ///   - origins: the allowed origins, besides that of the environment's base URL. Default: none.
  public mutating func insertTraceContext(isSampled: Bool = true, origins: Set<Origin> = []) {
    // Runs once per call, so that the call's retries belong to one trace. Runs inside `coalescing`, which does not
    // combine calls with different values.
    insert(TraceStartMiddleware(isSampled: isSampled), .before(.retry))
    // Runs once per exchange, where the origin of each redirect is known.
    insert(TraceContextMiddleware(origins: origins), .before(.transport))
  }
}
