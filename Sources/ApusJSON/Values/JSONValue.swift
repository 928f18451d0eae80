/// Any JSON value, for content whose structure is not known in advance.
///
/// Numbers preserve all digits. ``init(parsing:limits:)`` parses a value and ``utf8()`` serializes it, both in linear
/// time and without recursion.
public enum JSONValue: Sendable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A number.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// The member of an object; `nil` if there is no such member or this is not an object.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// The element of an array; `nil` if there is no such element or this is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard let elements = array, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The Boolean, or `nil` if this is not a Boolean.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The number, or `nil` if this is not a number.
  public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
  /// The string, or `nil` if this is not a string.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The elements, or `nil` if this is not an array.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The members, or `nil` if this is not an object.
  public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates a Boolean from a literal.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates a number from a literal.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// Creates a number from a literal.
  public init(floatLiteral value: Double) { self = .number(JSONNumber(floatLiteral: value)) }
  /// Creates a string from a literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array from a literal.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object from a literal. The last of several members with the same name is used.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members, uniquingKeysWith: { $1 }))
  }
}

extension JSONValue: Hashable {
  /// Returns whether two values are equal. Numbers are compared by value, objects regardless of the order of members.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    // Uses an explicit stack instead of recursion, so that values of any depth can be compared on a thread with a small
    // stack.
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
