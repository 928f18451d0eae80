/// Any JSON value, for content whose shape is not known beforehand.
///
/// Numbers keep every digit. ``init(parsing:limits:)`` reads a value and ``utf8()`` writes it, both in time that grows
/// with the number of bytes alone and without recursion.
public enum JSONValue: Sendable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A number.
  case number(JSONNumber)
  /// A text.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// The member of an object; `nil` if there is none, or if this is no object.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// The element of an array; `nil` if there is none, or if this is no array.
  public subscript(index: Int) -> JSONValue? {
    guard let elements = array, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The truth value; `nil` if this is none.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The number; `nil` if this is none.
  public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
  /// The text; `nil` if this is none.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The elements; `nil` if this is no array.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The members; `nil` if this is no object.
  public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes a truth value of a literal.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes a number of a literal.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// Makes a number of a literal.
  public init(floatLiteral value: Double) { self = .number(JSONNumber(floatLiteral: value)) }
  /// Makes a text of a literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes an array of a literal.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Makes an object of a literal; the last of several members with one name counts.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members, uniquingKeysWith: { $1 }))
  }
}
