import ApusCore

/// Finds settings that contradict each other: pure. Each rule looks at what the layers say of themselves and at their
/// order, and at nothing else.
///
/// A rule tells only what is certain to be pointless or harmful: a limit that no call can reach is no contradiction
/// where another one does the same, and what depends on how a server behaves is none either. So there is none about a
/// rate that is lower than what the scheduler lets through, nor about a server's delay that is honoured for longer than
/// a call lasts: such a call fails at once, as it would for a delay that is too long.
enum Contradictions {
  typealias Layer = ClientDescription.Layer
  typealias Warning = ClientDescription.Warning

  /// What is to be said of a client's layers, outermost first, the transport last.
  static func warnings(of layers: [Layer]) -> [Warning] {
    times(layers) + order(layers) + limits(layers)
  }

  private static func times(_ layers: [Layer]) -> [Warning] {
    [
      attemptLimitBeyondTotal(layers), attemptsBeyondTotal(layers), serverDelayBeyondTotal(layers), noPauses(layers),
      budgetTooSmall(layers),
    ].compactMap { $0 }
  }

  private static func order(_ layers: [Layer]) -> [Warning] {
    [
      attemptsMultiply(layers), permitsHeldInPauses(layers), breakerOutsideRetry(layers),
      attemptLimitOutsideRetry(layers), totalLimitInsideRetry(layers),
    ].compactMap { $0 }
  }

  private static func limits(_ layers: [Layer]) -> [Warning] {
    [
      breakerWithinOneCall(layers), breakerWindowTooShort(layers), breakerBeyondPermits(layers),
      breakerBeyondRate(layers), permitsBeyondConnections(layers),
    ].compactMap { $0 }
  }
}

/// What a layer says, as the rules ask for it; of several facts of one kind the first.
extension ClientDescription.Layer {
  /// How many attempts it makes, if it makes several.
  var attempts: Int? {
    for case .attempts(let count) in facts where count > 1 { return count }
    return nil
  }

  /// The limit that it sets to a whole call; one that is endless is none.
  var totalLimit: Duration? {
    for case .totalLimit(let limit?) in facts where limit < .endless { return limit.bounded }
    return nil
  }

  /// The limit that it sets to an attempt; one that is endless is none.
  var attemptLimit: Duration? {
    for case .attemptLimit(let limit?) in facts where limit < .endless { return limit.bounded }
    return nil
  }

  /// How long it pauses at most.
  var pauses: (first: Duration, longest: Duration)? {
    for case .pauses(let first, let longest) in facts { return (first.bounded, longest.bounded) }
    return nil
  }

  /// How many exchanges to one origin, and in all, it lets through at a time, if it limits any of that.
  var permits: (perOrigin: Int, total: Int)? {
    for case .permits(let perOrigin, let total) in facts where perOrigin < Int.max || total < Int.max {
      return (max(1, perOrigin), max(1, total))
    }
    return nil
  }

  /// The ratio's part of when it opens.
  var failureWindow: (minimum: Int, length: Duration)? {
    for case .failureRatio(_, let minimum, let window) in facts { return (minimum, window.bounded) }
    return nil
  }

  /// After how many failures in a row it opens.
  var failuresInARow: Int? {
    for case .failuresInARow(let count) in facts { return count }
    return nil
  }

  /// Whether it refuses exchanges after others failed.
  var isBreaker: Bool { failureWindow != nil || failuresInARow != nil }
}

extension Contradictions {
  /// Two layers that try again make a call of each attempt: their numbers multiply.
  static func attemptsMultiply(_ layers: [Layer]) -> Warning? {
    let counts = layers.compactMap(\.attempts)
    guard counts.count > 1 else { return nil }
    let product = counts.reduce(1) { (all: Int, count: Int) -> Int in
      let (result, overflow) = all.multipliedReportingOverflow(by: count)
      return overflow ? Int.max : result
    }
    let names = layers.filter { $0.attempts != nil }.map(\.name).joined(separator: " and ")
    return Warning(
      .attemptsMultiply, "\(names) try again, one inside the other: up to \(product) attempts of one call.")
  }

  /// A permit is taken once for all attempts, and held while nothing is sent.
  static func permitsHeldInPauses(_ layers: [Layer]) -> Warning? {
    guard let (outer, inner) = names(layers, { $0.permits != nil }, outside: { $0.attempts != nil }) else { return nil }
    return Warning(
      .permitsHeldInPauses, "\(outer) stands outside \(inner): its permits are held while \(inner) pauses.")
  }

  /// A breaker that stands outside sees one failure where there were several, and lets the attempts through.
  static func breakerOutsideRetry(_ layers: [Layer]) -> Warning? {
    guard let (outer, inner) = names(layers, { $0.isBreaker }, outside: { $0.attempts != nil }) else { return nil }
    return Warning(
      .breakerOutsideRetry, "\(outer) stands outside \(inner): it counts no attempts, and stops none once it is open.")
  }

  /// The limit of an attempt ends all attempts of a call together.
  static func attemptLimitOutsideRetry(_ layers: [Layer]) -> Warning? {
    guard let (outer, inner) = names(layers, { $0.attemptLimit != nil }, outside: { $0.attempts != nil })
    else { return nil }
    return Warning(
      .attemptLimitOutsideRetry, "\(outer) stands outside \(inner): it limits all attempts of a call together.")
  }

  /// What tries again does not see how much time is left, where the limit of the call is set further in only.
  static func totalLimitInsideRetry(_ layers: [Layer]) -> Warning? {
    guard let retry = layers.firstIndex(where: { $0.attempts != nil }),
      let limit = layers.firstIndex(where: { $0.totalLimit != nil }), retry < limit
    else { return nil }
    return Warning(
      .totalLimitInsideRetry,
      "\(layers[limit].name) stands inside \(layers[retry].name), which does not see how much time is left.")
  }

  /// The names of the outermost layer of one kind and the innermost of another, if they stand in this order.
  private static func names(
    _ layers: [Layer], _ isOuter: (Layer) -> Bool, outside isInner: (Layer) -> Bool
  ) -> (outer: String, inner: String)? {
    guard let outer = layers.firstIndex(where: isOuter), let inner = layers.lastIndex(where: isInner), outer < inner
    else { return nil }
    return (layers[outer].name, layers[inner].name)
  }
}
