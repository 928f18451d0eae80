/// What calls must have in common to share an exchange.
struct FlightKey: Hashable, Sendable {
  /// How calls come to share.
  enum Group: Hashable, Sendable {
    /// The app gave them this id.
    case named(CallID)
    /// They ask for the same in the same way.
    case alike(Likeness)
  }

  /// What calls that do not name each other have in common besides what they ask for.
  struct Likeness: Hashable, Sendable {
    /// Whoever holds or limits one of them by its tag means that one.
    let tags: [Tag]
    /// The exchange fails for all of them beyond it.
    let contentLimit: Int
    let settings: CommonSettings
  }

  let group: Group
  let environment: ObjectIdentifier
  let principal: UInt64?
  let message: FlightMessage

  /// How far the answer may have come for another call to join.
  func terms(_ limits: CoalescingLimits) -> FlightTerms {
    switch group {
    case .named: .named
    case .alike(let likeness):
      FlightTerms(bytes: Int64(min(likeness.contentLimit, limits.sharedBytes)), takesNoStore: false)
    }
  }

  /// How many exchanges may be under way for a call to begin another that is shared.
  func limit(_ limits: CoalescingLimits) -> Int {
    switch group {
    case .named: .max
    case .alike: limits.exchanges
    }
  }
}

extension FlightKey {
  /// The key of a call; `nil` for one that shares with nobody.
  init?(_ request: RequestMessage, _ context: CallContext, _ limits: CoalescingLimits) {
    guard let (group, message) = Self.parts(request, context, limits) else { return nil }
    self.group = group
    self.message = message
    environment = ObjectIdentifier(context.call.prepared)
    principal = context.principal
  }

  private static func parts(
    _ request: RequestMessage, _ context: CallContext, _ limits: CoalescingLimits
  ) -> (Group, FlightMessage)? {
    if context.call.joins { return FlightMessage(request).map { (Group.named(context.id), $0) } }
    guard let message = FlightMessage(coalescing: request, but: limits.perCallFields),
      let settings = CommonSettings(context.values)
    else { return nil }
    let likeness = Likeness(tags: context.tags, contentLimit: context.contentLimit, settings: settings)
    return (.alike(likeness), message)
  }
}
