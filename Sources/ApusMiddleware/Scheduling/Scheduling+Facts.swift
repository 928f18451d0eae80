public import ApusCore

extension Scheduling: SelfDescribing {
  /// The scheduler's limits.
  public var facts: [Fact] {
    let limits = scheduler.limits
    var facts: [Fact] = [.permits(perOrigin: max(1, limits.perOrigin), total: max(1, limits.total))]
    for (origin, limit) in limits.origins.sorted(by: { $0.key.description < $1.key.description }) {
      facts.append(.setting("to \(origin)", "\(limit)"))
    }
    for (tag, limit) in limits.tags.sorted(by: { $0.key.name < $1.key.name }) {
      facts.append(.setting("with tag \(tag)", "\(limit)"))
    }
    facts.append(.setting("streams", "up to the head"))
    facts.append(.setting("queue", "\(limits.queue)"))
    facts.append(.time("ageing", limits.ageing))
    return facts
  }
}
