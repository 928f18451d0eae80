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
  // A type of its own: of a tuple, the value is copied each time a key is compared.
  @usableFromInline
  struct Entry: Sendable {
    let key: ObjectIdentifier
    let tellsCallsApart: Bool
    var value: any Sendable
  }

  // A handful at most: a scan beats hashing, and no settings cost nothing.
  @usableFromInline var entries: [Entry] = []

  /// No settings.
  public init() {}

  /// The setting of a key, or its default.
  public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value {
    // In line, so that a middleware that asks for what nobody has set pays for a comparison, or one for each setting.
    @inlinable get {
      guard !entries.isEmpty, let index = index(of: ObjectIdentifier(key)) else { return Key.defaultValue }
      return value(at: index, key)
    }
    set {
      let id = ObjectIdentifier(key)
      if let index = index(of: id) {
        entries[index].value = newValue
      } else {
        if entries.isEmpty { entries.reserveCapacity(4) }
        entries.append(Entry(key: id, tellsCallsApart: Key.tellsCallsApart, value: newValue))
      }
    }
  }

  /// Whether a value was set for a key, be it the default.
  func contains<Key: ContextKey>(_ key: Key.Type) -> Bool { index(of: ObjectIdentifier(key)) != nil }

  @usableFromInline
  func index(of key: ObjectIdentifier) -> Int? {
    for index in entries.indices where entries[index].key == key { return index }
    return nil
  }

  @usableFromInline
  func value<Key: ContextKey>(at index: Int, _ key: Key.Type) -> Key.Value {
    entries[index].value as? Key.Value ?? Key.defaultValue
  }

  /// What was set of that by which calls are told apart.
  var tellingCallsApart: [(key: ObjectIdentifier, value: any Sendable)] {
    entries.filter { $0.tellsCallsApart }.map { (key: $0.key, value: $0.value) }
  }
}
