/// The key of a setting that an app passes to a middleware or transport with a call.
public protocol ContextKey {
  /// The type of the setting.
  associatedtype Value: Sendable
  /// The value of a setting that is not set.
  static var defaultValue: Value { get }
  /// Whether calls with different values for this key are not coalesced, see ``Endpoint/coalesced(_:)``. Default:
  /// `true`.
  ///
  /// Return `false` if neither the exchange nor its response depends on the setting. Values that are not `Equatable`,
  /// such as closures, count as different. Calls with ``DuplicatePolicy/coalesce`` are coalesced regardless.
  static var affectsCoalescing: Bool { get }
}

extension ContextKey {
  /// `true`: calls with different values are not coalesced.
  public static var affectsCoalescing: Bool { true }
}

/// The settings of a call, by key.
public struct ContextValues: Sendable {
  // A struct, because comparing the keys of tuples copies the values.
  @usableFromInline
  struct Entry: Sendable {
    let key: ObjectIdentifier
    let affectsCoalescing: Bool
    var value: any Sendable
  }

  // A few entries at most, so that a scan is faster than hashing.
  @usableFromInline var entries: [Entry] = []

  /// Creates an empty collection.
  public init() {}

  /// The value of a setting, or its default.
  public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value {
    // Inlined, so that reading a setting costs at most one comparison per entry.
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
        entries.append(Entry(key: id, affectsCoalescing: Key.affectsCoalescing, value: newValue))
      }
    }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Whether a value is set for a key, even if it equals the default.
  package func contains<Key: ContextKey>(_ key: Key.Type) -> Bool { index(of: ObjectIdentifier(key)) != nil }

  @usableFromInline
  func index(of key: ObjectIdentifier) -> Int? {
    for index in entries.indices where entries[index].key == key { return index }
    return nil
  }

  @usableFromInline
  func value<Key: ContextKey>(at index: Int, _ key: Key.Type) -> Key.Value {
    entries[index].value as? Key.Value ?? Key.defaultValue
  }

  /// The settings whose values must be equal for calls to be coalesced.
  var affectingCoalescing: [(key: ObjectIdentifier, value: any Sendable)] {
    entries.filter { $0.affectsCoalescing }.map { (key: $0.key, value: $0.value) }
  }
}
