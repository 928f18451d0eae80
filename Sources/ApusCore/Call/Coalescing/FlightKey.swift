import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The properties that calls must have in common to share an exchange.
struct FlightKey: Hashable, Sendable {
  /// The reason why calls share an exchange.
  enum Group: Hashable, Sendable {
    /// The calls have this id.
    case named(CallID)
    /// The calls have equal tags, limits and settings.
    case alike(Likeness)
  }

  /// The properties that calls without a common id must have in common, besides the message.
  struct Likeness: Hashable, Sendable {
    /// Pausing or limiting a tag must not affect calls without the tag.
    let tags: [Tag]
    /// An exchange that exceeds the limit fails for all its calls.
    let contentLimit: Int
    let settings: CommonSettings
  }

  let group: Group
  let environment: ObjectIdentifier
  let principal: UInt64?
  let cookieJar: UInt64
  /// Whether the exchange has ``SharedExchangeSteps``, which may refuse it with an error for calls with steps only.
  let hasSteps: Bool
  let message: FlightMessage

  /// Returns the response progress up to which another call may join.
  func terms(_ limits: CoalescingLimits) -> FlightTerms {
    switch group {
    case .named: .named
    case .alike(let likeness):
      FlightTerms(bytes: Int64(min(likeness.contentLimit, limits.sharedBytes)), joinsNoStore: false)
    }
  }

  /// Returns the maximum number of shared exchanges in flight.
  func limit(_ limits: CoalescingLimits) -> Int {
    switch group {
    case .named: .max
    case .alike: limits.exchanges
    }
  }
}

extension FlightKey {
  /// Creates the key of a call, or `nil` if the call cannot be coalesced.
  init?(_ request: RequestMessage, _ context: CallContext, _ limits: CoalescingLimits) {
    // A call that is refused because its URL came from a response must not fail other calls.
    guard !context.owner.leavesHTTPS, let (group, message) = Self.parts(request, context, limits) else { return nil }
    self.group = group
    self.message = message
    environment = ObjectIdentifier(context.owner.prepared)
    principal = context.principal
    cookieJar = context.values[CookieJarNumberKey.self]
    hasSteps = context.values[SharedExchangeKey.self] != nil
  }

  private static func parts(
    _ request: RequestMessage, _ context: CallContext, _ limits: CoalescingLimits
  ) -> (Group, FlightMessage)? {
    if context.owner.joins { return FlightMessage(request).map { (Group.named(context.owner.id), $0) } }
    guard let message = FlightMessage(coalescing: request, but: limits.perCallFields),
      let settings = CommonSettings(context.values)
    else { return nil }
    let likeness = Likeness(tags: context.owner.options.tags, contentLimit: context.contentLimit, settings: settings)
    return (.alike(likeness), message)
  }
}

/// The compared parts of a message. Calls with equal messages can share a response.
struct FlightMessage: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case empty
    case bytes(Data)
    case file(ContentFile)
  }

  let head: HTTPRequest
  let content: Content

  /// Creates the complete message, for calls with a common id. `nil` if its content is a stream, which cannot be
  /// compared.
  init?(_ request: RequestMessage) {
    head = request.head
    switch request.content {
    case .empty: content = .empty
    case .bytes(let data): content = .bytes(data)
    case .file(let file): content = .file(file)
    case .stream, .joined: return nil
    }
  }

  /// Creates the compared parts of a message, for calls without a common id. `nil` if the call cannot be coalesced.
  ///
  /// The target is compared as it is sent, because a server may distinguish targets that are equivalent by RFC 3986
  /// §6.2.
  ///
  /// - Parameter perCallFields: lower-case names of fields that are ignored.
  init?(coalescing request: RequestMessage, but perCallFields: Set<String>) {
    // A file may have changed in the meantime.
    if case .file = request.content { return nil }
    // The response to TRACE is the message itself, so calls cannot share it.
    guard request.head.method.isSafe, request.head.method != .trace, let whole = FlightMessage(request) else {
      return nil
    }
    var head = whole.head
    if let origin = request.origin {
      head.scheme = origin.scheme
      head.authority = origin.authority
    }
    head.headerFields.removeAll { perCallFields.contains($0.name.canonicalName) }
    self.head = head
    content = whole.content
  }
}

/// The settings that calls must have in common to share an exchange.
struct CommonSettings: Hashable, Sendable {
  private struct Entry: Sendable {
    let key: ObjectIdentifier
    let value: any Sendable
  }

  /// Sorted by key, because the order in which settings were set does not matter.
  private let entries: [Entry]

  /// Creates the settings that affect coalescing, or `nil` if a value cannot be compared.
  init?(_ values: ContextValues) {
    entries = values.affectingCoalescing.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
    guard entries.allSatisfy({ Self.areSame($0.value, $0.value) }) else { return nil }
  }

  static func == (lhs: CommonSettings, rhs: CommonSettings) -> Bool {
    lhs.entries.count == rhs.entries.count
      && zip(lhs.entries, rhs.entries).allSatisfy { $0.key == $1.key && areSame($0.value, $1.value) }
  }

  func hash(into hasher: inout Hasher) {
    for entry in entries { hasher.combine(entry.key) }
  }

  /// Whether both values can be compared and are equal.
  private static func areSame(_ first: any Sendable, _ second: any Sendable) -> Bool {
    guard let first = first as? any Equatable else { return false }
    return first.isSame(as: second)
  }
}

extension Equatable {
  fileprivate func isSame(as other: Any) -> Bool {
    guard let other = other as? Self else { return false }
    return self == other
  }
}
