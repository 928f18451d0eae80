import ApusJSON

/// The members of a server's JSON, as servers write them.
extension JSONValue {
  /// A member that is not null and not an empty string, which some servers write for a member that they do not have.
  func member(_ name: String) -> JSONValue? {
    switch self[name] {
    case nil, .null?: nil
    case .string(let text)? where text.utf8.allSatisfy({ $0 <= 0x20 }): nil
    case let value: value
    }
  }

  /// A member that is a string; `nil`: there is none, or it is empty.
  func text(_ name: String) -> String? { member(name)?.string }

  /// A member that is a number, which some servers write as a string; `nil`: there is none.
  func seconds(_ name: String) -> Double? {
    let seconds = self[name].flatMap { $0.number?.double ?? $0.string.flatMap { Double($0) } }
    return seconds.flatMap { $0.isFinite ? $0 : nil }
  }

  /// Whether a member is true, which some servers write as a string.
  func flag(_ name: String) -> Bool { self[name]?.bool ?? (self[name]?.string == "true") }

  /// The strings of a list; `nil`: there is no such list.
  func strings(_ name: String) -> [String]? {
    self[name]?.array.map { $0.prefix(1000).compactMap(\.string) }
  }
}
