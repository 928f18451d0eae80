import ApusCore

extension Contradictions {
  /// An attempt may take longer than the call it belongs to.
  static func attemptLimitBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers), let attempt = attemptLimit(layers), attempt > total else { return nil }
    return Warning(
      .attemptLimitBeyondTotal,
      "An attempt may take \(attempt.plainText) and the whole call \(total.plainText): the call always ends first.")
  }

  /// The limit of an attempt leaves no time for another one, or pauses leave none for the last ones.
  ///
  /// The attempt after a timeout gets all the remaining time, so it is enough that a second one can begin. The last
  /// attempt only has to begin: the rest of the call's time is its own.
  static func attemptsBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers), let retry = layers.first(where: { $0.attempts != nil }),
      let attempts = retry.attempts
    else { return nil }
    let limit = attemptLimit(layers)
    // Said by another rule.
    guard limit ?? .zero <= total else { return nil }
    let pauses = retry.pauses ?? (first: Duration.zero, longest: Duration.zero)
    let sentence: String
    if let limit, limit + min(pauses.first, pauses.longest) >= total {
      sentence = "where one takes the \(limit.plainText) that it may, no other can begin"
    } else {
      let begun = attemptsBegun(of: attempts, pauses, within: total)
      guard begun < attempts else { return nil }
      sentence = "where pauses are as long as they may be only \(begun) can begin"
    }
    return Warning(
      .attemptsBeyondTotal,
      "\(retry.name) makes \(attempts) attempts, and \(sentence) within the \(total.plainText) of the whole call.")
  }

  /// A server's delay is cut, so that the call goes on all the same, but to no less than the whole call has.
  static func serverDelayBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers) else { return nil }
    for layer in layers where layer.attempts != nil {
      for case .serverDelay(let limit, true) in layer.facts where limit.bounded >= total {
        return Warning(
          .serverDelayBeyondTotal,
          "\(layer.name) cuts a server's delay to \(limit.plainText), and the whole call has \(total.plainText): it "
            + "would end before the delay does.")
      }
    }
    return nil
  }

  /// Nothing is waited for between attempts, so that a server in trouble gets several times the load at once.
  static func noPauses(_ layers: [Layer]) -> Warning? {
    for layer in layers where layer.attempts != nil {
      guard let pauses = layer.pauses, min(pauses.first, pauses.longest) <= .zero else { continue }
      return Warning(
        .noPauses, "\(layer.name) tries again without a pause: a server in trouble gets all attempts at once.")
    }
    return nil
  }

  /// One further attempt costs more than there ever is to spend.
  static func budgetTooSmall(_ layers: [Layer]) -> Warning? {
    for layer in layers where layer.attempts != nil {
      for case .budget(let capacity, let cost) in layer.facts where cost > 0 && cost > capacity {
        return Warning(
          .budgetTooSmall,
          "\(layer.name) has \(capacity) to spend and another attempt costs \(cost): there is never another.")
      }
    }
    return nil
  }

  // MARK: What the limits come to

  /// The nearest limit of a whole call.
  static func totalLimit(_ layers: [Layer]) -> Duration? { layers.compactMap(\.totalLimit).min() }

  /// The nearest limit of an attempt.
  static func attemptLimit(_ layers: [Layer]) -> Duration? { layers.compactMap(\.attemptLimit).min() }

  /// How many attempts have begun when the call's time is up if each fails at once; of very many, all if the first 1,000
  /// have.
  private static func attemptsBegun(
    of attempts: Int, _ pauses: (first: Duration, longest: Duration), within total: Duration
  ) -> Int {
    var start = Duration.zero
    var pause = min(pauses.first, pauses.longest)
    for count in 1..<min(attempts, 1000) {
      start += pause
      if start >= total { return count }
      pause = min(pause * 2, pauses.longest)
    }
    return attempts
  }
}

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

extension Contradictions {
  /// Exchanges are let go that then wait in the transport, in the order in which they came, while their time runs.
  ///
  /// No limit at all is none that the transport could break.
  static func permitsBeyondConnections(_ layers: [Layer]) -> Warning? {
    guard let transport = layers.last, let scheduling = layers.first(where: { $0.permits != nil }),
      let permits = scheduling.permits
    else { return nil }
    for case .connections(let perOrigin, let total) in transport.facts {
      // Each total holds for one origin, too.
      let (wanted, kept) = (min(permits.perOrigin, permits.total), min(perOrigin, total))
      let isPerOrigin = permits.perOrigin < Int.max && wanted > kept
      guard isPerOrigin || (permits.total < Int.max && permits.total > total) else { continue }
      let (granted, there) = isPerOrigin ? (wanted, kept) : (permits.total, total)
      return Warning(
        .permitsBeyondConnections,
        "\(scheduling.name) lets \(granted) go at a time \(isPerOrigin ? "to one origin" : "in all"), and "
          + "\(transport.name) has \(there) connections for them: the others wait there, the urgent no less than the "
          + "rest, while their time runs.")
    }
    return nil
  }
}
