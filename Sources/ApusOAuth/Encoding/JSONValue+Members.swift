import ApusJSON

/// Access to the members of a server's JSON that tolerates the deviations of servers.
extension JSONValue {
  /// Returns a member that is neither null nor an empty string. Some servers write null or an empty string instead of
  /// omitting the member.
  func member(_ name: String) -> JSONValue? {
    switch self[name] {
    case nil, .null?: nil
    case .string(let text)? where text.utf8.allSatisfy({ $0 <= 0x20 }): nil
    case let value: value
    }
  }

  /// Returns a member that is a string; `nil` if it is missing or empty.
  func text(_ name: String) -> String? { member(name)?.string }

  /// Returns a member that is a number, or a string with a number, as some servers write it; `nil` if it is missing.
  func seconds(_ name: String) -> Double? {
    let seconds = self[name].flatMap { $0.number?.double ?? $0.string.flatMap { Double($0) } }
    return seconds.flatMap { $0.isFinite ? $0 : nil }
  }

  /// Whether a member is true, or the string "true", as some servers write it.
  func flag(_ name: String) -> Bool { self[name]?.bool ?? (self[name]?.string == "true") }

  /// Returns a member that is a list of strings; `nil` if no such list exists.
  func strings(_ name: String) -> [String]? {
    self[name]?.array.map { $0.prefix(1000).compactMap(\.string) }
  }
}
