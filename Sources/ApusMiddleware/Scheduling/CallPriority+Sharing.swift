import ApusCore

extension CallPriorityKey {
  /// What calls share is as urgent as the most urgent of them.
  static var tellsCallsApart: Bool { false }
}

extension CallPriority {
  /// That of a call which waits for an exchange together with others.
  init(of member: Sharers.Member) {
    self = member.values[CallPriorityKey.self] ?? CallPriority(member.taskPriority)
  }
}

extension SchedulerState.Newcomer {
  /// The same, as urgent as the most urgent of the calls that wait for it now: whoever began it may have left.
  func forMostUrgent(of sharers: Sharers?) -> SchedulerState.Newcomer {
    guard let priority = sharers?.members.map({ CallPriority(of: $0) }).max() else { return self }
    var newcomer = self
    newcomer.priority = priority
    return newcomer
  }
}
