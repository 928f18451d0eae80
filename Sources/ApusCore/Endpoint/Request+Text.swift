// A request may hold a password in its path, its query, its fields or its content: texts show none of them.

extension Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The endpoint's type if it has one, the method and the path's template: safe for logs.
  public var description: String { "\(EndpointIdentity(of: box))" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestPath: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path with `{}` or `{name}` in place of each value.
  public var description: String { template }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Query: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The names of the parameters; a value that writes several stands as its type.
  public var description: String {
    let names = parts.map { part in
      switch part {
      case .item(let name, _): name
      case .members(let value): "\(type(of: value))"
      }
    }
    return "[\(names.joined(separator: ", "))]"
  }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestBox: CustomReflectable {
  /// Shows nothing: a call holds it, and `dump` of whatever holds the call would find it.
  var customMirror: Mirror { Mirror(self, children: []) }
}
