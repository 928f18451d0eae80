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
