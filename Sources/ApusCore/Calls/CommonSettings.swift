/// The settings of a call that others must have as well to share its exchange.
struct CommonSettings: Hashable, Sendable {
  private struct Entry: Sendable {
    let key: ObjectIdentifier
    let value: any Sendable
  }

  /// By key, since the order in which they were set means nothing.
  private let entries: [Entry]

  /// Takes what tells calls apart; `nil` when some of it cannot be compared, so that the call is like no other.
  init?(_ values: ContextValues) {
    entries = values.tellingCallsApart.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
    guard entries.allSatisfy({ Self.areSame($0.value, $0.value) }) else { return nil }
  }

  static func == (lhs: CommonSettings, rhs: CommonSettings) -> Bool {
    lhs.entries.count == rhs.entries.count
      && zip(lhs.entries, rhs.entries).allSatisfy { $0.key == $1.key && areSame($0.value, $1.value) }
  }

  func hash(into hasher: inout Hasher) {
    for entry in entries { hasher.combine(entry.key) }
  }

  /// Whether both can be compared and are equal.
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
