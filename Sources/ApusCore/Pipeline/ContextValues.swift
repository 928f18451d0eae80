/// Names a setting that one call carries from the app to a middleware.
///
/// Settings of a middleware travel by key, so that no signature grows with each new one.
public protocol ContextKey {
  /// What the setting is.
  associatedtype Value: Sendable
  /// What it is when nobody set it.
  static var defaultValue: Value { get }
  /// Whether calls for which it was set to different values share no exchange unless their ids say so, see
  /// ``Endpoint/coalesced(_:)``. Default: yes. Say no for what neither the exchange nor its answer depends on.
  ///
  /// Values that cannot be compared, such as closures, are different from all others.
  static var tellsCallsApart: Bool { get }
}

extension ContextKey {
  /// Calls with different values share nothing.
  public static var tellsCallsApart: Bool { true }
}

/// Settings of one call, by key.
public struct ContextValues: Sendable {
  // A handful at most: a scan beats hashing, and no settings cost nothing.
  @usableFromInline var entries: [(key: ObjectIdentifier, tellsCallsApart: Bool, value: any Sendable)] = []

  /// No settings.
  public init() {}

  /// The setting of a key, or its default.
  public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value {
    // In line, so that a middleware that asks for what nobody has set pays for a comparison.
    @inlinable get { entries.isEmpty ? Key.defaultValue : found(key) }
    set {
      let id = ObjectIdentifier(key)
      if let index = entries.firstIndex(where: { $0.key == id }) {
        entries[index].value = newValue
      } else {
        entries.append((id, Key.tellsCallsApart, newValue))
      }
    }
  }

  @usableFromInline
  func found<Key: ContextKey>(_ key: Key.Type) -> Key.Value {
    let id = ObjectIdentifier(key)
    guard let entry = entries.first(where: { $0.key == id }) else { return Key.defaultValue }
    return entry.value as? Key.Value ?? Key.defaultValue
  }

  /// What was set of that by which calls are told apart.
  var tellingCallsApart: [(key: ObjectIdentifier, value: any Sendable)] {
    entries.filter { $0.tellsCallsApart }.map { (key: $0.key, value: $0.value) }
  }
}
