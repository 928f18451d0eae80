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
