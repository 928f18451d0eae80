extension Environment: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name and the base URL: common fields, parameters and settings may hold secrets.
  public var description: String { "\(name) (\(baseURL))" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
