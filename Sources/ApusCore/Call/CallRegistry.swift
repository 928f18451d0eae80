import Synchronization

/// The registry of a client's running calls, which can be listed, found and cancelled.
///
/// A call is registered from the moment the app makes it until its result is returned. Calls whose work other calls
/// wait for (``SharedWorkKey``) are listed, but can only be cancelled by their id.
public final class CallRegistry: Sendable {
  private let state = Mutex(RegistryState<Call>())

  init() {}

  /// All running calls, oldest first.
  public var all: [CallEntry] { calls { _ in true } }

  /// The number of running calls.
  public var count: Int { state.withLock { $0.count } }

  /// Whether no call is running.
  public var isEmpty: Bool { state.withLock { $0.isEmpty } }

  /// Returns the running calls with an id. Several calls have one id only if duplicates are allowed or coalesced.
  public func calls(id: CallID) -> [CallEntry] { find(id).map(\.entry) }

  /// Returns the running calls with a tag, oldest first.
  public func calls(tag: Tag) -> [CallEntry] { calls { $0.options.tags.contains(tag) } }

  /// Returns the running calls of an endpoint type, oldest first.
  public func calls(endpoint type: (any Endpoint.Type)) -> [CallEntry] {
    calls { $0.endpoint.type.map { ObjectIdentifier($0) } == ObjectIdentifier(type) }
  }

  /// Cancels the calls with an id and returns their number.
  @discardableResult
  public func cancel(id: CallID) -> Int { cancelQueuedFirst(calls(id: id)) }

  /// Cancels the calls with a tag and returns their number.
  @discardableResult
  public func cancel(tag: Tag) -> Int { cancel(calls(tag: tag)) }

  /// Cancels the calls of an endpoint type and returns their number.
  @discardableResult
  public func cancel(endpoint type: (any Endpoint.Type)) -> Int { cancel(calls(endpoint: type)) }

  /// Cancels the calls for which `matches` returns `true`, for example all with the same path template, and returns
  /// their number.
  @discardableResult
  public func cancel(where matches: (CallEntry) -> Bool) -> Int { cancel(all.filter(matches)) }

  /// Cancels all calls and returns their number.
  @discardableResult
  public func cancelAll() -> Int { cancel(all) }

  private func cancel(_ entries: [CallEntry]) -> Int {
    cancelQueuedFirst(entries.filter { !$0.call.options.values[SharedWorkKey.self] })
  }

  /// Cancels calls, queued calls first, so that the permit of a cancelled call does not admit a call that is about to
  /// be cancelled.
  private func cancelQueuedFirst(_ entries: [CallEntry]) -> Int {
    for entry in entries where entry.phase == .waiting { entry.cancel() }
    for entry in entries { entry.cancel() }
    return entries.count
  }

  /// Filters a copy outside the lock, and sorts only the matching calls.
  private func calls(where matches: (Call) -> Bool) -> [CallEntry] {
    state.withLock { $0.all }.filter(matches).sorted { $0.serial < $1.serial }.map(\.entry)
  }

  private func find(_ id: CallID) -> [Call] {
    state.withLock { state in
      if let serial = id.serial { return state.member(serial: serial).map { [$0] } ?? [] }
      return state.members(named: id)
    }
  }

  // MARK: Registration

  /// Registers a call and ends the calls that it supersedes. Returns `false` if its id is in use and its policy is to
  /// refuse duplicates.
  func admit(_ call: Call) -> Bool {
    let admission = state.withLock {
      $0.admit(call, serial: call.serial, id: call.id, policy: call.options.duplicatePolicy)
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

/// The running calls by serial number and by name. A pure state machine.
struct RegistryState<Member> {
  /// Whether a call is admitted.
  enum Admission {
    /// The call runs and supersedes these calls.
    case admitted(superseding: [Member])
    /// The id of the call is in use.
    case refused
  }

  private var members: [UInt64: Member] = [:]
  private var named: [CallID: Set<UInt64>] = [:]

  var isEmpty: Bool { members.isEmpty && named.isEmpty }
  var count: Int { members.count }

  /// Admits a call according to its duplicate policy.
  mutating func admit(_ member: Member, serial: UInt64, id: CallID, policy: DuplicatePolicy) -> Admission {
    var superseded: [Member] = []
    if id.isNamed {
      if policy == .refuse, named[id] != nil { return .refused }
      if policy == .cancelPrevious { superseded = members(named: id) }
      named[id, default: []].insert(serial)
    }
    members[serial] = member
    return .admitted(superseding: superseded)
  }

  /// Removes a call. Its id can be used again immediately.
  mutating func remove(serial: UInt64, id: CallID) {
    guard members.removeValue(forKey: serial) != nil, id.isNamed else { return }
    named[id]?.remove(serial)
    if named[id]?.isEmpty == true { named[id] = nil }
  }

  /// All calls, unordered.
  var all: [Member] { Array(members.values) }

  /// Returns the calls with a name, oldest first.
  func members(named id: CallID) -> [Member] { named[id, default: []].sorted().compactMap { members[$0] } }

  /// Returns the call with a serial number.
  func member(serial: UInt64) -> Member? { members[serial] }
}
