/// Which calls run, by serial number and by the names the app gave: pure.
struct RegistryState<Member> {
  /// What became of a call that wanted in.
  enum Admission {
    /// It runs; the calls listed make room for it.
    case admitted(superseding: [Member])
    /// Its id is in use.
    case refused
  }

  private var members: [UInt64: Member] = [:]
  private var named: [CallID: Set<UInt64>] = [:]

  var isEmpty: Bool { members.isEmpty && named.isEmpty }
  var count: Int { members.count }

  /// Lets a call in by the policy for its id.
  mutating func admit(_ member: Member, serial: UInt64, id: CallID, policy: DuplicatePolicy) -> Admission {
    var superseded: [Member] = []
    if id.isNamed {
      if policy == .refuse, named[id] != nil { return .refused }
      if policy == .replace { superseded = members(named: id) }
      named[id, default: []].insert(serial)
    }
    members[serial] = member
    return .admitted(superseding: superseded)
  }

  /// Takes a call out; its id is free at once.
  mutating func remove(serial: UInt64, id: CallID) {
    guard members.removeValue(forKey: serial) != nil, id.isNamed else { return }
    named[id]?.remove(serial)
    if named[id]?.isEmpty == true { named[id] = nil }
  }

  /// All calls, in no order.
  var all: [Member] { Array(members.values) }

  /// The calls with a name, oldest first.
  func members(named id: CallID) -> [Member] { named[id, default: []].sorted().compactMap { members[$0] } }

  /// The call with a serial number.
  func member(serial: UInt64) -> Member? { members[serial] }
}
