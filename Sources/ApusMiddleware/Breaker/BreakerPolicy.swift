public import ApusCore
package import HTTPTypes

/// A policy that decides when the circuits of a ``CircuitBreaker`` open, and for how long.
///
/// The circuit of an endpoint opens at a ratio of failed exchanges, or after consecutive gateway errors. The circuit of
/// an origin opens after consecutive exchanges that did not reach it, or consecutive gateway errors or timeouts from at
/// least three endpoints.
public struct BreakerPolicy: Sendable, Hashable {
  /// The ratio of failed exchanges within ``window`` at which an endpoint's circuit opens, above 0 up to 1. Default:
  /// 0.5.
  public var failureRatio: Double
  /// The minimum number of exchanges within ``window`` for ``failureRatio`` to apply, at least 1. Default: 10.
  public var minimumExchanges: Int
  /// The number of consecutive failures at which a circuit opens, at least 1. The circuit of an endpoint counts gateway
  /// errors (502, 503, 504). The circuit of an origin counts exchanges that did not reach the origin, or gateway errors
  /// and timeouts from at least three endpoints. Default: 5.
  public var consecutiveFailures: Int
  /// The length of the sliding window for ``failureRatio``, in ten steps; at least 10 ms. Default: 30 seconds.
  public var window: Duration
  /// The time for which a circuit stays open when it first opens. It doubles each time the circuit opens again. The
  /// circuit of an origin that responds with gateway errors, or too late, stays open for at most twice this time.
  /// Default: 5 seconds.
  public var openDuration = Duration.seconds(5)
  /// The maximum time for which a circuit stays open, even if a server requests a longer delay. Default: 60 seconds.
  public var maximumOpenDuration = Duration.seconds(60)
  /// The minimum time after which a timeout counts as a failure of the server: a timeout of the attempt or of the whole
  /// call, or the transport's timeout for the head or a stall. Default: 1 second.
  ///
  /// The transport's own connect timeout always counts.
  public var minimumTimeout = Duration.seconds(1)

  /// Creates a policy. The defaults are the values of ``app``.
  public init(
    failureRatio: Double = 0.5, minimumExchanges: Int = 10, consecutiveFailures: Int = 5,
    window: Duration = .seconds(30)
  ) {
    self.failureRatio = failureRatio
    self.minimumExchanges = minimumExchanges
    self.consecutiveFailures = consecutiveFailures
    self.window = window
  }

  /// The policy for apps, which make few calls: a circuit opens when half of at least 10 exchanges with an endpoint
  /// fail within 30 seconds.
  public static let app = BreakerPolicy()

  /// The policy for servers, which make many calls: a circuit opens when a tenth of at least 100 exchanges with an
  /// endpoint fail within 30 seconds.
  public static let server = BreakerPolicy(failureRatio: 0.1, minimumExchanges: 100)
}

/// The subject of a circuit of a ``CircuitBreaker``: an origin, an endpoint of an origin, or a group of such endpoints.
public struct BreakerScope: Sendable, Hashable, CustomStringConvertible {
  /// The origin of the server.
  public let origin: Origin
  let part: BreakerPart?

  /// Creates the scope of an origin, or of a group of its endpoints.
  ///
  /// - Parameters:
  ///   - origin: the origin of the server.
  ///   - group: the name that endpoints set with `breaker(.group(…))`. Default: `nil`, the origin's own circuit.
  public init(_ origin: Origin, group: String? = nil) {
    self.origin = origin
    part = group.map { .group($0) }
  }

  /// Creates the scope of an endpoint.
  package init(_ origin: Origin, _ method: HTTPRequest.Method, _ template: String) {
    self.init(origin, .endpoint(method: method.rawValue, template: template))
  }

  init(_ origin: Origin, _ part: BreakerPart?) {
    self.origin = origin
    self.part = part
  }

  /// The endpoint, for example `GET /users/{}`; `nil` for the circuit of an origin or a group.
  public var endpoint: String? {
    guard case .endpoint(let method, let template)? = part else { return nil }
    return "\(method) \(template)"
  }

  /// The name of the group; `nil` for the circuit of an origin or an endpoint.
  public var group: String? {
    guard case .group(let name)? = part else { return nil }
    return name
  }

  /// The origin, followed by the endpoint or group in parentheses, if there is one.
  public var description: String { (endpoint ?? group).map { "\(origin) (\($0))" } ?? "\(origin)" }
}

/// The circuits that count the calls of an endpoint.
public enum BreakerGrouping: Sendable, Hashable {
  /// The circuit of the endpoint, by its method and path template, and the circuit of the origin.
  ///
  /// A path template of placeholders only, such as the template of a path made of `segments:`, does not identify an
  /// endpoint: its calls are counted by the origin's circuit only.
  case endpoint
  /// The circuit of a group, which all endpoints of the origin with this group share instead of their own circuits, and
  /// the circuit of the origin.
  case group(String)
  /// The circuit of the origin only.
  case origin
  /// No circuit: calls are neither refused nor counted.
  case none
}

enum BreakerUseKey: ContextKey {
  static let defaultValue = BreakerGrouping.endpoint
}

extension Endpoint {
  /// Sets the circuits of a ``CircuitBreaker`` that count the calls of this endpoint. Default: the circuits of the
  /// endpoint and of the origin.
  public func breaker(_ grouping: BreakerGrouping) -> Request<Value> {
    setting(BreakerUseKey.self, grouping)
  }
}

/// The status of a circuit.
public enum BreakerStatus: Sendable, Hashable {
  /// Calls pass, and their outcomes are counted.
  case closed
  /// Calls are refused. From this instant on the client's clock, one call passes as a trial request.
  case open(until: MonotonicInstant)
  /// A trial request is in flight or is the next call; other calls are refused until its outcome is known.
  case halfOpen
}

/// A change of a circuit's status.
public struct BreakerChange: Sendable, Hashable {
  /// The subject of the circuit.
  public let scope: BreakerScope
  /// The new status.
  public let status: BreakerStatus

  init(_ scope: BreakerScope, _ status: BreakerStatus) {
    self.scope = scope
    self.status = status
  }
}

/// The reason why the ``CircuitBreaker`` refused a call: a circuit is open.
///
/// It is the cause of the ``CallError`` with code `refused` that such a call throws:
/// `error.underlying as? BreakerRefusal`. The error's `retryAfter` is the time until a trial request.
public struct BreakerRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The circuit that is open: the endpoint's, its group's or the origin's.
  public let scope: BreakerScope
  /// The time for which the circuit stays open; `nil`: unknown, because a trial request is in flight.
  let retryAfter: Duration?
  /// The failure that opened the circuit; `nil`: unknown.
  package let failure: FailedAttempt.Cause?

  init(_ scope: BreakerScope, retryAfter: Duration?, failure: FailedAttempt.Cause?) {
    self.scope = scope
    self.retryAfter = retryAfter
    self.failure = failure
  }

  /// The reason as a clause, without a full stop.
  public var description: String {
    "the circuit of \(scope) is open" + (failure.map { " after \($0)" } ?? "")
  }

  /// The error of the attempt, which was not sent.
  var error: TransportError {
    var error = TransportError(.refused, requestState: .notSent, detail: description, underlying: self)
    (error.retryAfter, error.source) = (retryAfter, .trafficControl)
    return error
  }
}
