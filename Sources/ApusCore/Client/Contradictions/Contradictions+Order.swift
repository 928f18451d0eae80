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
