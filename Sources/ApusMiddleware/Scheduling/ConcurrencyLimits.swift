public import ApusCore

/// The concurrency limits of a ``Scheduler``, and the order of its queue.
///
/// A limit below 1 counts as 1; `Int.max` is no limit. A streamed call counts toward the limits until its response head
/// arrives, and toward the limits of its tags until its content ends.
public struct ConcurrencyLimits: Sendable, Hashable {
  /// The maximum number of concurrent calls, over all origins. Default: 64.
  public var global: Int
  /// The maximum number of concurrent calls to one origin. Default: 5.
  ///
  /// While an origin speaks HTTP/2, the default and the limit of ``server`` are replaced by the number of streams that
  /// it accepts on a connection, at most 100. A limit that is set applies to every version.
  public var perOrigin: Int {
    didSet { isPerOriginPreset = false }
  }
  /// Whether ``perOrigin`` is a preset, which adapts to HTTP/2.
  private(set) var isPerOriginPreset: Bool
  /// The limits of single origins, instead of ``perOrigin``. Default: none.
  public var origins: [Origin: Int] = [:]
  /// The maximum numbers of concurrent calls with a tag, for example 4 images. A call with several of these tags counts
  /// toward each limit. Default: none.
  public var tags: [Tag: Int]
  /// The maximum number of queued calls. Further calls are refused (``SchedulingRefusal/queueFull(limit:)``). 0: no
  /// call is queued. Default: 100,000.
  public var queueCapacity = 100_000
  /// The time in the queue that compensates for one step of ``CallPriority``. Default: 10 seconds.
  ///
  /// Ageing prevents starvation. A queued call is never overtaken by calls of the same or a lower priority. Calls that
  /// are n steps more urgent (at most four) overtake it only if they arrive within n times this duration after it.
  ///
  /// A call that returned its permit to wait for fresh credentials is queued again as if it had just arrived with the
  /// highest priority.
  ///
  /// The order applies to calls that can run. While a call's origin or tag is at its limit, or the call is held, other
  /// calls overtake it. No capacity is reserved for a call that needs room at its origin and its tags at the same
  /// moment, because a slow server would then delay calls to other servers.
  public var ageing = Duration.seconds(10)
  /// Whether a queued call fails with the code `timeout` instead of being admitted, if the time to its deadline is
  /// shorter than the median duration of recent calls to its origin. The permit is then available for a call that can
  /// still succeed. Default: `true`.
  ///
  /// This applies only to calls that must wait. The median is discarded once no call to the origin has run for as long
  /// as the median, so that calls to a formerly slow server are admitted again.
  public var refusesLateCalls = true

  /// Creates limits. The defaults are the values of ``app``; `nil` for `perOrigin` is the limit of ``app`` that adapts
  /// to HTTP/2.
  public init(global: Int = 64, perOrigin: Int? = nil, tags: [Tag: Int] = [:]) {
    self.global = global
    self.perOrigin = perOrigin ?? 5
    isPerOriginPreset = perOrigin == nil
    self.tags = tags
  }

  /// The limits for apps: 64 calls, 5 of them to one origin, and more over HTTP/2 (``perOrigin``).
  public static let app = ConcurrencyLimits()

  /// The limits for servers: 64 calls to one origin, and up to 100 over HTTP/2 (``perOrigin``), without a global limit.
  public static let server = {
    var limits = ConcurrencyLimits(global: .max, perOrigin: 64)
    limits.isPerOriginPreset = true
    return limits
  }()

  /// The maximum number of concurrent calls to one origin over HTTP/2, if ``perOrigin`` is a preset.
  static let maximumOverHTTP2 = 100
}

/// The reason why the ``Scheduler`` refused a call.
///
/// It is the cause of the ``CallError`` that such a call throws: `error.underlying as? SchedulingRefusal`.
public enum SchedulingRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The queue is full. The code is `refused`.
  case queueFull(limit: Int)
  /// The deadline passed in the queue, or left too little time for a response. The code is `timeout`, the phase
  /// `waiting`.
  case deadlineTooNear

  /// The reason as a clause, without a full stop.
  public var description: String {
    switch self {
    case .queueFull(let limit): "the scheduler's queue is full (\(limit) calls)"
    case .deadlineTooNear: "the deadline is too near to start the call"
    }
  }

  /// The error of the attempt, which was not sent.
  var error: TransportError {
    let code: CallError.Code = self == .deadlineTooNear ? .timeout : .refused
    return TransportError(code, in: .waiting, requestState: .notSent, detail: description, underlying: self).attributed(
      to: .trafficControl)
  }
}
