/// Names a setting that one call carries from the app to a middleware.
///
/// Settings of a middleware travel by key, so that no signature grows with each new one.
public protocol ContextKey {
  /// What the setting is.
  associatedtype Value: Sendable
  /// What it is when nobody set it.
  static var defaultValue: Value { get }
}

/// Settings of one call, by key.
public struct ContextValues: Sendable {
  // A handful at most: a scan beats hashing, and no settings cost nothing.
  private var entries: [(key: ObjectIdentifier, value: any Sendable)] = []

  /// No settings.
  public init() {}

  /// The setting of a key, or its default.
  public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value {
    get {
      let id = ObjectIdentifier(key)
      return entries.first { $0.key == id }?.value as? Key.Value ?? Key.defaultValue
    }
    set {
      let id = ObjectIdentifier(key)
      if let index = entries.firstIndex(where: { $0.key == id }) {
        entries[index].value = newValue
      } else {
        entries.append((id, newValue))
      }
    }
  }
}
