extension Contradictions {
  /// The first attempts of one call open its endpoint's circuit, which then refuses its last ones.
  static func breakerWithinOneCall(_ layers: [Layer]) -> Warning? {
    guard let retry = layers.firstIndex(where: { $0.attempts != nil }), let attempts = layers[retry].attempts
    else { return nil }
    for layer in layers[retry...] where layer.isBreaker {
      let failures = min(layer.failuresInARow ?? Int.max, layer.failureWindow?.minimum ?? Int.max)
      guard failures < attempts else { continue }
      return Warning(
        .breakerWithinOneCall,
        "\(layer.name) may open after \(max(1, failures)) of the \(attempts) attempts that one call makes, and refuses "
          + "the others.")
    }
    return nil
  }

  /// What timed out is forgotten about as soon as the next attempt can have.
  ///
  /// That a window needs room for two attempts is the rule of .NET's standard pipeline, too.
  static func breakerWindowTooShort(_ layers: [Layer]) -> Warning? {
    guard let limit = attemptLimit(layers), limit > .zero else { return nil }
    for layer in layers {
      guard let window = layer.failureWindow?.length, window < limit * 2 else { continue }
      return Warning(
        .breakerWindowTooShort,
        "\(layer.name) looks back for \(window.plainText), and one attempt may take \(limit.plainText): it needs room "
          + "for two.")
    }
    return nil
  }

  /// An endpoint that hangs fails each exchange once in so long, of as many as run at a time, all of them its own at
  /// most: within the window that is less than the breaker needs.
  static func breakerBeyondPermits(_ layers: [Layer]) -> Warning? {
    guard let limit = attemptLimit(layers), limit > .zero,
      let permits = layers.compactMap({ $0.permits.map { min($0.perOrigin, $0.total) } }).min()
    else { return nil }
    for layer in layers {
      // Where the window is too short, that has been said.
      guard let (minimum, window) = layer.failureWindow, window >= limit * 2 else { continue }
      // At both ends of the window one may fail at the same moment.
      let failures = Double(permits) * ((window / limit).rounded(.down) + 1)
      guard failures < Double(minimum) else { continue }
      return Warning(
        .breakerBeyondPermits,
        "\(layer.name) judges by at least \(minimum) exchanges in \(window.plainText), and of \(permits) at a time, "
          + "each for \(limit.plainText), only \(Int(failures)) end in it: an endpoint that hangs never opens its "
          + "circuit.")
    }
    return nil
  }

  /// So few exchanges are let through within the window, all of them of one endpoint at most, that the ratio of those
  /// that fail never counts.
  static func breakerBeyondRate(_ layers: [Layer]) -> Warning? {
    for limiter in layers {
      for case .rate(let interval, let burst) in limiter.facts where interval > .zero {
        for layer in layers {
          guard let (minimum, window) = layer.failureWindow else { continue }
          let exchanges = Double(max(0, burst)) + (window / interval).rounded(.down)
          guard exchanges < Double(minimum) else { continue }
          return Warning(
            .breakerBeyondRate,
            "\(layer.name) judges by at least \(minimum) exchanges in \(window.plainText), and \(limiter.name) lets "
              + "only \(Int(exchanges)) through.")
        }
      }
    }
    return nil
  }
}
