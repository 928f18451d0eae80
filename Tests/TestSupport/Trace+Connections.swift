public import ApusCore

extension Trace {
  /// Whether each connection of the call was reused, in order.
  public var reuses: [Bool] {
    events.compactMap { event in
      if case .connected(let reused, _) = event.kind { reused } else { nil }
    }
  }
}
