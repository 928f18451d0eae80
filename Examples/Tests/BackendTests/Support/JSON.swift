/// A JSON value, to inspect responses without declaring a type for each.
enum JSON: Decodable, Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  /// Returns a member; `nil` when it is missing, `.null` when it is null.
  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var items: [JSON] {
    if case .array(let items) = self { items } else { [] }
  }

  var names: Set<String> {
    if case .object(let members) = self { Set(members.keys) } else { [] }
  }

  var int: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  var double: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  var string: String? {
    if case .string(let string) = self { string } else { nil }
  }
}
