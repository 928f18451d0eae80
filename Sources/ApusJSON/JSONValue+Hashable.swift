extension JSONValue: Hashable {
  /// Returns whether two values are the same: numbers by value, objects whatever the order of their members.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    // A stack of its own instead of recursion: a thread with a small one can compare values of any depth.
    var pairs = [(one, other)]
    while let (one, other) = pairs.popLast() {
      switch (one, other) {
      case (.null, .null): continue
      case (.bool(let one), .bool(let other)): if one != other { return false }
      case (.number(let one), .number(let other)): if one != other { return false }
      case (.string(let one), .string(let other)): if one != other { return false }
      case (.array(let one), .array(let other)):
        guard one.count == other.count else { return false }
        pairs.append(contentsOf: zip(one, other))
      case (.object(let one), .object(let other)):
        guard one.count == other.count else { return false }
        for (name, value) in one {
          guard let match = other[name] else { return false }
          pairs.append((value, match))
        }
      default: return false
      }
    }
    return true
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) {
    var values = [self]
    while let value = values.popLast() {
      switch value {
      case .null: hasher.combine(0)
      case .bool(let value): hasher.combine(value)
      case .number(let value): hasher.combine(value)
      case .string(let value): hasher.combine(value)
      case .array(let elements):
        hasher.combine(elements.count)
        values.append(contentsOf: elements)
      case .object(let members):
        hasher.combine(members.count)
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          hasher.combine(name)
          values.append(value)
        }
      }
    }
  }
}
