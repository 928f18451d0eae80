extension Contradictions {
  /// An attempt may take longer than the call it belongs to.
  static func attemptLimitBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers), let attempt = attemptLimit(layers), attempt > total else { return nil }
    return Warning(
      .attemptLimitBeyondTotal,
      "An attempt may take \(attempt.plainText) and the whole call \(total.plainText): the call always ends first.")
  }

  /// Attempts that take all their time, with the longest pauses between them, leave none for the last ones.
  ///
  /// The last one only has to begin: the rest of the call's time is its own.
  static func attemptsBeyondTotal(_ layers: [Layer]) -> Warning? {
    guard let total = totalLimit(layers), let retry = layers.first(where: { $0.attempts != nil }),
      let attempts = retry.attempts
    else { return nil }
    let limit = attemptLimit(layers)
    // Said by another rule.
    guard limit ?? .zero <= total else { return nil }
    let pauses = retry.pauses ?? (first: Duration.zero, longest: Duration.zero)
    let begun = attemptsBegun(of: attempts, each: limit ?? .zero, pauses, within: total)
    guard begun < attempts else { return nil }
    let cause = limit.map { "each may take \($0.plainText)" } ?? "pauses are as long as they may be"
    return Warning(
      .attemptsBeyondTotal,
      "\(retry.name) makes \(attempts) attempts, and where \(cause) only \(begun) can begin within the "
        + "\(total.plainText) of the whole call.")
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

  /// How many attempts have begun when the call's time is up; of very many, all where the first 1,000 have.
  private static func attemptsBegun(
    of attempts: Int, each limit: Duration, _ pauses: (first: Duration, longest: Duration), within total: Duration
  ) -> Int {
    var start = Duration.zero
    var pause = min(pauses.first, pauses.longest)
    for count in 1..<min(attempts, 1000) {
      start += limit + pause
      if start >= total { return count }
      pause = min(pause * 2, pauses.longest)
    }
    return attempts
  }
}
