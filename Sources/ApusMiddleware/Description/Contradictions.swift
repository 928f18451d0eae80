import ApusCore

/// The rules that detect contradictory settings. Each rule is a pure function of the layers' facts and their order.
///
/// A rule reports only settings that are certain to be pointless or harmful. A limit that no call can reach is not
/// reported if another limit has the same effect, nor are settings whose effect depends on the server. So there is no
/// rule for a rate limit below the concurrency limit, nor for a server's delay that is honored for longer than the
/// total timeout: such a call fails immediately, as it would for a delay that is too long.
enum Contradictions {
  typealias Layer = ClientDescription.Layer
  typealias Warning = ClientDescription.Warning

  /// Returns the warnings about a client's layers, outermost first, the transport last.
  static func warnings(of layers: [Layer]) -> [Warning] {
    times(layers) + order(layers) + limits(layers)
  }

  private static func times(_ layers: [Layer]) -> [Warning] {
    [
      attemptLimitBeyondTotal(layers), attemptsBeyondTotal(layers), serverDelayBeyondTotal(layers), noBackoff(layers),
      budgetTooSmall(layers),
    ].compactMap { $0 }
  }

  private static func order(_ layers: [Layer]) -> [Warning] {
    [
      attemptsMultiply(layers), permitsHeldDuringBackoff(layers), breakerOutsideRetry(layers),
      attemptLimitOutsideRetry(layers), totalLimitInsideRetry(layers),
    ].compactMap { $0 }
  }

  private static func limits(_ layers: [Layer]) -> [Warning] {
    [
      breakerWithinOneCall(layers), breakerWindowTooShort(layers), breakerBeyondPermits(layers),
      breakerBeyondRate(layers), permitsBeyondConnections(layers),
      cacheWithoutAccount(layers),
    ].compactMap { $0 }
  }
}

/// The facts of a layer, by kind. The first of several facts of one kind is used.
extension ClientDescription.Layer {
  /// The maximum number of attempts, if the layer retries.
  var attempts: Int? {
    for case .attempts(let count) in facts where count > 1 { return count }
    return nil
  }

  /// The total timeout; `nil`: none, or endless.
  var totalLimit: Duration? {
    for case .totalLimit(let limit?) in facts where limit < .endless { return limit.bounded }
    return nil
  }

  /// The attempt timeout; `nil`: none, or endless.
  var attemptLimit: Duration? {
    for case .attemptLimit(let limit?) in facts where limit < .endless { return limit.bounded }
    return nil
  }

  /// The upper bounds of the first delay and of all delays.
  var pauses: (first: Duration, longest: Duration)? {
    for case .backoff(let first, let longest) in facts { return (first.bounded, longest.bounded) }
    return nil
  }

  /// The concurrency limits per origin and in total, if there are any.
  var permits: (perOrigin: Int, total: Int)? {
    for case .permits(let perOrigin, let total) in facts where perOrigin < Int.max || total < Int.max {
      return (max(1, perOrigin), max(1, total))
    }
    return nil
  }

  /// The minimum number of exchanges for the failure ratio, and the length of its window.
  var failureWindow: (minimum: Int, length: Duration)? {
    for case .failureRatio(_, let minimum, let window) in facts { return (minimum, window.bounded) }
    return nil
  }

  /// The number of consecutive failures at which a circuit opens.
  var consecutiveFailures: Int? {
    for case .consecutiveFailures(let count) in facts { return count }
    return nil
  }

  /// Whether the layer is a circuit breaker.
  var isBreaker: Bool { failureWindow != nil || consecutiveFailures != nil }
}

extension Contradictions {
  /// Warns if several layers retry, so that each attempt of the outer layer is a call for the inner layer.
  static func attemptsMultiply(_ layers: [Layer]) -> Warning? {
    let counts = layers.compactMap(\.attempts)
    guard counts.count > 1 else { return nil }
    let product = counts.reduce(1) { (all: Int, count: Int) -> Int in
      let (result, overflow) = all.multipliedReportingOverflow(by: count)
      return overflow ? Int.max : result
    }
    let names = layers.filter { $0.attempts != nil }.map(\.name).joined(separator: " and ")
    return Warning(
      .attemptsMultiply, "\(names) retry, one inside the other: a call can make up to \(product) attempts.")
  }

  /// Warns if a permit is acquired once for all attempts, and held during the delays.
  static func permitsHeldDuringBackoff(_ layers: [Layer]) -> Warning? {
    guard let (outer, inner) = names(layers, { $0.permits != nil }, outside: { $0.attempts != nil }) else { return nil }
    return Warning(
      .permitsHeldDuringBackoff, "\(outer) is outside \(inner): permits are held during the delays between attempts.")
  }

  /// Warns if a circuit breaker is outside retry. It then counts one failure where several attempts failed, and refuses
  /// no attempts.
  static func breakerOutsideRetry(_ layers: [Layer]) -> Warning? {
    guard let (outer, inner) = names(layers, { $0.isBreaker }, outside: { $0.attempts != nil }) else { return nil }
    return Warning(
      .breakerOutsideRetry, "\(outer) is outside \(inner): the circuit breaker neither counts nor refuses attempts.")
  }

  /// Warns if an attempt timeout is outside retry, so that it limits all attempts of a call together.
  static func attemptLimitOutsideRetry(_ layers: [Layer]) -> Warning? {
    guard let (outer, inner) = names(layers, { $0.attemptLimit != nil }, outside: { $0.attempts != nil })
    else { return nil }
    return Warning(
      .attemptLimitOutsideRetry,
      "\(outer) is outside \(inner): the attempt timeout limits all attempts of a call together.")
  }

  /// Warns if the total timeout is set only further in than retry. The retrying layer then does not know the remaining
  /// time.
  static func totalLimitInsideRetry(_ layers: [Layer]) -> Warning? {
    guard let retry = layers.firstIndex(where: { $0.attempts != nil }),
      let limit = layers.firstIndex(where: { $0.totalLimit != nil }), retry < limit
    else { return nil }
    return Warning(
      .totalLimitInsideRetry,
      "\(layers[limit].name) is inside \(layers[retry].name), which does not see the remaining time of the call.")
  }

  /// Returns the names of the outermost layer of one kind and the innermost layer of another kind, if they are in this
  /// order.
  private static func names(
    _ layers: [Layer], _ isOuter: (Layer) -> Bool, outside isInner: (Layer) -> Bool
  ) -> (outer: String, inner: String)? {
    guard let outer = layers.firstIndex(where: isOuter), let inner = layers.lastIndex(where: isInner), outer < inner
    else { return nil }
    return (layers[outer].name, layers[inner].name)
  }
}
