import Synchronization

/// The calls of a client that are running: list them, find them, cancel them.
///
/// A call is in it from the moment the app makes it until the app has its outcome. Those that do work for many others
/// (``SharedWorkKey``) are listed, and cancelled by their id only.
public final class CallRegistry: Sendable {
  private let state = Mutex(RegistryState<Call>())

  init() {}

  /// All running calls, oldest first.
  public var all: [CallEntry] { calls { _ in true } }

  /// How many calls are running.
  public var count: Int { state.withLock { $0.count } }

  /// Whether nothing is running.
  public var isEmpty: Bool { state.withLock { $0.isEmpty } }

  /// The running calls with an id: several only where duplicates are allowed or joined.
  public func calls(id: CallID) -> [CallEntry] { find(id).map(\.entry) }

  /// The running calls with a tag, oldest first.
  public func calls(tag: Tag) -> [CallEntry] { calls { $0.options.tags.contains(tag) } }

  /// The running calls of an endpoint type, oldest first.
  public func calls(endpoint type: (any Endpoint.Type)) -> [CallEntry] {
    calls { $0.endpoint.type.map { ObjectIdentifier($0) } == ObjectIdentifier(type) }
  }

  /// Cancels the calls with an id; answers how many there were.
  @discardableResult
  public func cancel(id: CallID) -> Int {
    let entries = calls(id: id)
    for entry in entries { entry.cancel() }
    return entries.count
  }

  /// Cancels the calls with a tag; answers how many there were.
  @discardableResult
  public func cancel(tag: Tag) -> Int { cancel(calls(tag: tag)) }

  /// Cancels the calls of an endpoint type; answers how many there were.
  @discardableResult
  public func cancel(endpoint type: (any Endpoint.Type)) -> Int { cancel(calls(endpoint: type)) }

  /// Cancels the calls that a rule picks, for example all with one path template; answers how many.
  @discardableResult
  public func cancel(where matches: (CallEntry) -> Bool) -> Int { cancel(all.filter(matches)) }

  /// Cancels every running call; answers how many there were.
  @discardableResult
  public func cancelAll() -> Int { cancel(all) }

  private func cancel(_ entries: [CallEntry]) -> Int {
    let own = entries.filter { !$0.call.options.values[SharedWorkKey.self] }
    for entry in own { entry.cancel() }
    return own.count
  }

  /// Looks through all of them without holding anybody up, and puts those alone in order that it finds.
  private func calls(where matches: (Call) -> Bool) -> [CallEntry] {
    state.withLock { $0.all }.filter(matches).sorted { $0.serial < $1.serial }.map(\.entry)
  }

  private func find(_ id: CallID) -> [Call] {
    state.withLock { state in
      if let serial = id.serial { return state.member(serial: serial).map { [$0] } ?? [] }
      return state.members(named: id)
    }
  }

  // MARK: For the path of a call

  /// Lets a call in and ends those it takes the place of; answers `false` when its id is refused.
  func admit(_ call: Call) -> Bool {
    let admission = state.withLock {
      $0.admit(call, serial: call.serial, id: call.id, policy: call.options.duplicates)
    }
    switch admission {
    case .refused: return false
    case .admitted(let superseded):
      for older in superseded { older.cancel(.superseded) }
      return true
    }
  }

  func remove(_ call: Call) {
    state.withLock { $0.remove(serial: call.serial, id: call.id) }
  }
}

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
