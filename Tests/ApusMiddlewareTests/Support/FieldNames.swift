import HTTPTypes

extension HTTPFields {
  /// The value of a field, by its name as text.
  subscript(text name: String) -> String? {
    first { $0.name.canonicalName == name.lowercased() }?.value
  }
}
