/// The invalidations and removals of a cache, by which responses are recognized that came too late. A pure state
/// machine.
///
/// Each change raises the generation. A response to a request that was sent at an earlier generation may show the state
/// before the change, whenever it arrives.
struct CacheInvalidations: Hashable, Sendable {
  /// A change that also concerns requests of later processes.
  enum Change: Hashable, Sendable {
    /// The responses of a group are invalidated: one of ``CacheSubjects``.
    case group(KeyedDigest)
    /// The responses of an account, given by its tag, are removed.
    case account(UInt64)
    /// The responses to all requests with credentials are removed.
    case accounts
    /// All responses are removed.
    case everything
  }

  /// The generations below which all responses are invalidated or removed.
  struct Floors: Hashable, Sendable {
    /// Responses of earlier generations are invalidated, if they belong to any group.
    var groups: UInt64 = 0
    /// Responses to requests with credentials of earlier generations are removed.
    var accounts: UInt64 = 0
    /// Responses of earlier generations are removed.
    var everything: UInt64 = 0
  }

  /// The number of changes.
  private(set) var generation: UInt64 = 0
  private(set) var floors = Floors()
  /// The generation of the last invalidation of a group.
  private var groups: [KeyedDigest: UInt64] = [:]
  /// The generation of the last removal of an account.
  private var accounts: [UInt64: UInt64] = [:]
  /// The generation of the last invalidation of a target. Stored responses are removed at once, so targets concern only
  /// requests in flight.
  private var targets: [KeyedDigest: UInt64] = [:]
  /// Responses in flight of earlier generations count as invalidated.
  private var targetFloor: UInt64 = 0
  /// The number of requests in flight.
  private var flights = 0
  private let capacity: Int

  /// - Parameter capacity: the maximum number of recorded groups and accounts, and of targets. Beyond it the oldest are
  ///   forgotten, and what they concern is no longer told apart: responses that are older than the forgotten changes
  ///   count as invalidated. Default: 1,024.
  init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  /// The number of recorded groups and accounts.
  var count: Int { groups.count + accounts.count }
  /// The number of recorded targets.
  var targetCount: Int { targets.count }
  /// Whether a request is in flight.
  var hasFlights: Bool { flights > 0 }

  // MARK: Requests

  /// Records that a request is sent, until ``end()``. Returns its generation.
  mutating func begin() -> UInt64 {
    flights += 1
    return generation
  }

  /// Records that the response to a request was stored, or that there will be none.
  mutating func end() {
    flights = max(0, flights - 1)
    if flights == 0, !targets.isEmpty { targets = [:] }
  }

  // MARK: Changes

  /// Records changes, and invalidated targets for the responses in flight, at the next generation.
  mutating func record(_ changes: [Change], targets: [KeyedDigest] = []) {
    guard !changes.isEmpty || !targets.isEmpty else { return }
    record(changes, targets: targets, at: generation + 1)
  }

  /// Records changes, and invalidated targets for the responses in flight, at a generation that several processes
  /// share.
  mutating func record(_ changes: [Change], targets: [KeyedDigest] = [], at generation: UInt64) {
    self.generation = max(self.generation, generation)
    for change in changes { apply(change, generation) }
    if count > capacity { forgetOldest() }
    record(targets)
  }

  /// Raises the generation to that of another process.
  mutating func raise(to generation: UInt64) {
    self.generation = max(self.generation, generation)
  }

  /// Raises the floors to those of another process.
  mutating func raise(_ floors: Floors) {
    self.floors.groups = max(self.floors.groups, floors.groups)
    self.floors.accounts = max(self.floors.accounts, floors.accounts)
    self.floors.everything = max(self.floors.everything, floors.everything)
    generation = max(generation, floors.groups, floors.accounts, floors.everything)
  }

  private mutating func apply(_ change: Change, _ generation: UInt64) {
    switch change {
    case .group(let digest): groups[digest] = generation
    case .account(let tag): accounts[tag] = generation
    case .accounts: floors.accounts = max(floors.accounts, generation)
    case .everything: floors.everything = max(floors.everything, generation)
    }
  }

  /// Forgets the oldest quarter of groups and accounts.
  private mutating func forgetOldest() {
    let ordered = (Array(groups.values) + accounts.values).sorted()
    let last = ordered[count - capacity + capacity / 4 - 1]
    if groups.values.contains(where: { $0 <= last }) { floors.groups = max(floors.groups, last) }
    if accounts.values.contains(where: { $0 <= last }) { floors.accounts = max(floors.accounts, last) }
    groups = groups.filter { $0.value > last }
    accounts = accounts.filter { $0.value > last }
  }

  private mutating func record(_ invalidated: [KeyedDigest]) {
    guard flights > 0 else { return }
    for target in invalidated { targets[target] = generation }
    guard targets.count > capacity else { return }
    targetFloor = generation
    targets = [:]
  }

  /// Whether a group or an account was recorded last at a generation.
  func isRecorded(_ change: Change, at generation: UInt64) -> Bool {
    switch change {
    case .group(let digest): groups[digest] == generation
    case .account(let tag): accounts[tag] == generation
    case .accounts, .everything: false
    }
  }

  // MARK: Questions

  /// Whether the responses of a generation, with these groups, must be validated before their next use.
  func isInvalidated(_ groups: [KeyedDigest], sentAt generation: UInt64) -> Bool {
    guard generation < self.generation, !groups.isEmpty else { return false }
    return generation < floors.groups || groups.contains { self.groups[$0].map { $0 > generation } ?? false }
  }

  /// Whether the target of a request was invalidated after the request was sent. Only for a request in flight.
  func isInvalidated(target: KeyedDigest, sentAt generation: UInt64) -> Bool {
    guard generation < self.generation else { return false }
    return generation < targetFloor || targets[target].map { $0 > generation } ?? false
  }

  /// Whether the response to a request with the credentials of an account was removed after the request was sent, so
  /// that it is neither stored nor used.
  ///
  /// - Parameter account: the tag of the account; `nil`: the request had no credentials.
  func isRemoved(account: UInt64?, sentAt generation: UInt64) -> Bool {
    guard generation < self.generation else { return false }
    if generation < floors.everything { return true }
    guard let account else { return false }
    return generation < floors.accounts || accounts[account].map { $0 > generation } ?? false
  }
}
