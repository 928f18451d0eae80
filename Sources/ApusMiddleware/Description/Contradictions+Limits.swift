import ApusCore

extension Contradictions {
  /// Warns if the attempt timeout is longer than the total timeout.
  static func attemptLimitBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers), let attempt = attemptLimit(layers), attempt > total else { return nil }
    return Warning(
      .attemptLimitBeyondTotal,
      "The attempt timeout of \(attempt.plainText) exceeds the total timeout of \(total.plainText) and never applies.")
  }

  /// Warns if the attempt timeout leaves no time for a retry, or the delays leave no time for the last attempts.
  ///
  /// The attempt after a timeout gets all the remaining time, so a second attempt only needs to be able to start, and
  /// so does the last attempt.
  static func attemptsBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers), let retry = layers.first(where: { $0.attempts != nil }),
      let attempts = retry.attempts
    else { return nil }
    let limit = attemptLimit(layers)
    // A different rule reports this contradiction.
    guard limit ?? .zero <= total else { return nil }
    let pauses = retry.pauses ?? (first: Duration.zero, longest: Duration.zero)
    let sentence: String
    if let limit, limit + min(pauses.first, pauses.longest) >= total {
      sentence = "after an attempt timeout of \(limit.plainText) no retry can start"
    } else {
      let begun = attemptsBegun(of: attempts, pauses, within: total)
      guard begun < attempts else { return nil }
      sentence = "with the maximum delays only \(begun) can start"
    }
    return Warning(
      .attemptsBeyondTotal,
      "\(retry.name) makes \(attempts) attempts, but \(sentence) within the total timeout of \(total.plainText).")
  }

  /// Warns if the delay that a server requests is clamped, so that the call continues, but not below the total timeout.
  static func serverDelayBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers) else { return nil }
    for layer in layers where layer.attempts != nil {
      for case .serverDelay(let limit, true) in layer.facts where limit.bounded >= total {
        return Warning(
          .serverDelayBeyondTotal,
          "\(layer.name) clamps a server's delay to \(limit.plainText), but the total timeout is \(total.plainText): "
            + "the call ends before the delay does.")
      }
    }
    return nil
  }

  /// Warns if retries have no delay, so that an overloaded server immediately gets a multiple of the load.
  static func noBackoff(_ layers: [Layer]) -> Warning? {
    for layer in layers where layer.attempts != nil {
      guard let pauses = layer.pauses, min(pauses.first, pauses.longest) <= .zero else { continue }
      return Warning(
        .noBackoff, "\(layer.name) retries without a delay: an overloaded server gets all attempts immediately.")
    }
    return nil
  }

  /// Warns if a retry costs more than the full retry budget.
  static func budgetTooSmall(_ layers: [Layer]) -> Warning? {
    for layer in layers where layer.attempts != nil {
      for case .budget(let capacity, let cost) in layer.facts where cost > 0 && cost > capacity {
        return Warning(
          .budgetTooSmall,
          "\(layer.name) has a retry budget of \(capacity), but a retry costs \(cost): the budget never suffices.")
      }
    }
    return nil
  }

  // MARK: Effective limits

  /// Returns the shortest total timeout.
  static func totalLimit(_ layers: [Layer]) -> Duration? { layers.compactMap(\.totalLimit).min() }

  /// Returns the shortest attempt timeout.
  static func attemptLimit(_ layers: [Layer]) -> Duration? { layers.compactMap(\.attemptLimit).min() }

  /// Returns the number of attempts that start within the total timeout if each attempt fails immediately. If the first
  /// 1,000 attempts start, all attempts count as started.
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
  /// Warns if the first attempts of one call open its endpoint's circuit, which then refuses the last attempts.
  static func breakerWithinOneCall(_ layers: [Layer]) -> Warning? {
    guard let retry = layers.firstIndex(where: { $0.attempts != nil }), let attempts = layers[retry].attempts
    else { return nil }
    for layer in layers[retry...] where layer.isBreaker {
      let failures = min(layer.consecutiveFailures ?? Int.max, layer.failureWindow?.minimum ?? Int.max)
      guard failures < attempts else { continue }
      return Warning(
        .breakerWithinOneCall,
        "\(layer.name) can open after \(max(1, failures)) of the \(attempts) attempts of one call, and then refuses "
          + "the rest.")
    }
    return nil
  }

  /// Warns if a timed-out attempt leaves the window before the next attempt can time out.
  ///
  /// The standard pipeline of .NET also requires a window of at least two attempt timeouts.
  static func breakerWindowTooShort(_ layers: [Layer]) -> Warning? {
    guard let limit = attemptLimit(layers), limit > .zero else { return nil }
    for layer in layers {
      guard let window = layer.failureWindow?.length, window < limit * 2 else { continue }
      return Warning(
        .breakerWindowTooShort,
        "\(layer.name) has a window of \(window.plainText), but the attempt timeout is \(limit.plainText): the window "
          + "must cover at least two attempts.")
    }
    return nil
  }

  /// Warns if an endpoint that never responds has fewer timeouts within the window than the breaker needs, even if the
  /// endpoint gets all permits. Each permit yields one failure per attempt timeout.
  static func breakerBeyondPermits(_ layers: [Layer]) -> Warning? {
    guard let limit = attemptLimit(layers), limit > .zero,
      let permits = layers.compactMap({ $0.permits.map { min($0.perOrigin, $0.total) } }).min()
    else { return nil }
    for layer in layers {
      // A different rule reports a window that is too short.
      guard let (minimum, window) = layer.failureWindow, window >= limit * 2 else { continue }
      // An exchange may fail at each end of the window.
      let failures = Double(permits) * ((window / limit).rounded(.down) + 1)
      guard failures < Double(minimum) else { continue }
      return Warning(
        .breakerBeyondPermits,
        "\(layer.name) needs at least \(minimum) exchanges in \(window.plainText), but a concurrency limit of "
          + "\(permits) and an attempt timeout of \(limit.plainText) allow only \(Int(failures)): an endpoint that "
          + "never responds does not open its circuit.")
    }
    return nil
  }

  /// Warns if the rate limit admits fewer exchanges within the window than the breaker's minimum, even if all exchanges
  /// belong to one endpoint. The failure ratio then never applies.
  static func breakerBeyondRate(_ layers: [Layer]) -> Warning? {
    for limiter in layers {
      for case .rate(let interval, let burst) in limiter.facts where interval > .zero {
        for layer in layers {
          guard let (minimum, window) = layer.failureWindow else { continue }
          let exchanges = Double(max(0, burst)) + (window / interval).rounded(.down)
          guard exchanges < Double(minimum) else { continue }
          return Warning(
            .breakerBeyondRate,
            "\(layer.name) needs at least \(minimum) exchanges in \(window.plainText), but \(limiter.name) admits only "
              + "\(Int(exchanges)): the failure ratio never applies.")
        }
      }
    }
    return nil
  }
}

extension Contradictions {
  /// Warns if the scheduler admits exchanges that then wait in the transport, in order of arrival, while their timeouts
  /// run.
  ///
  /// A scheduler without a limit contradicts no transport.
  static func permitsBeyondConnections(_ layers: [Layer]) -> Warning? {
    guard let transport = layers.last, let scheduling = layers.first(where: { $0.permits != nil }),
      let permits = scheduling.permits
    else { return nil }
    for case .connections(let perOrigin, let total) in transport.facts {
      // Each total limit also bounds one origin.
      let (wanted, kept) = (min(permits.perOrigin, permits.total), min(perOrigin, total))
      let isPerOrigin = permits.perOrigin < Int.max && wanted > kept
      guard isPerOrigin || (permits.total < Int.max && permits.total > total) else { continue }
      let (granted, there) = isPerOrigin ? (wanted, kept) : (permits.total, total)
      return Warning(
        .permitsBeyondConnections,
        "\(scheduling.name) allows \(granted) concurrent calls \(isPerOrigin ? "per origin" : "in total"), but "
          + "\(transport.name) has only \(there) connections for them: over HTTP/1.1 the other calls wait in the "
          + "transport, whatever their priority, while their timeouts run.")
    }
    return nil
  }

  /// Warns if a cache in a folder does not know whose responses it stores.
  static func cacheWithoutAccount(_ layers: [Layer]) -> Warning? {
    for layer in layers where layer.facts.contains(.cacheWithoutAccount) {
      return Warning(
        .cacheWithoutAccount,
        "\(layer.name) stores responses in a folder without an account: it stores none to calls with credentials. Name "
          + "the account, for example ResponseCache(.folder(path), account: user.id).")
    }
    return nil
  }
}
