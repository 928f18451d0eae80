/// What errors say of a limit: what it is called, its value, and what changes it.
extension Call {
  /// Which limit ended the call in a phase; ahead of that what it waited for.
  func passedLimit(in phase: CallPhase) -> String {
    let (limits, waitedFor) = snapshot { ($0.limits, phase == .waiting ? $0.waitedFor : "") }
    let text = limits.expiry.flatMap { limits.standard?.text($0) } ?? hardLimit(limits).map { "exceeded \($0)" } ?? ""
    return waitedFor.isEmpty || text.isEmpty ? waitedFor + text : "\(waitedFor); \(text)"
  }

  /// The limit that leaves the call the least time; `nil`: it has none.
  var nearestLimit: String? {
    let limits = snapshot(\.limits)
    guard let standard = limits.standard, limits.end(at: runtime.clock.now) != limits.deadline else {
      return hardLimit(limits)
    }
    return standard.name
  }

  private func hardLimit(_ limits: CallLimits) -> String? {
    guard let deadline = limits.deadline else { return nil }
    let time = startInstant.duration(to: deadline)
    if time == options.timeout { return "the call's limit of \(time.plainText); change it with .timeout(_:)" }
    if deadline == inheritedDeadline {
      return "the inherited deadline, \(time.plainText) after its start; change that with withDeadline(_:_:) or the "
        + "outer call's .timeout(_:)"
    }
    return "a limit of \(time.plainText) that a middleware set"
  }
}

extension CallTimeLimit {
  fileprivate var name: String { "the default limit of \(limit.plainText); change it with .timeout(_:)" }

  fileprivate func text(_ expiry: Expiry) -> String {
    switch expiry {
    case .total: "exceeded \(name)"
    case .stall: "exceeded the stall limit of \(stall.plainText); change it with ExchangeTimeouts(stall:)"
    case .floor:
      "content moved slower than \(Self.floor) bytes/s over \(Self.window.plainText); allow that with .timeout(_:)"
    }
  }
}
