package import HTTPTypes

extension HTTPFields {
  /// Returns the value of a field that occurs once in a message, for example a date, or `nil` if it is missing.
  ///
  /// Such a value may contain commas, so several fields must not be joined (RFC 9110 §5.3). Equal values are treated as
  /// one value, because proxies repeat fields. If the values differ, the result is `nil`.
  package func single(_ name: HTTPField.Name) -> String? {
    var found: String?
    for field in self[fields: name] {
      guard found == nil || found == field.value else { return nil }
      found = field.value
    }
    return found
  }

  /// Returns the values of the fields with a case-insensitive name, joined by commas (RFC 9110 §5.3), or `nil` if there
  /// is no such field or the name is not a token.
  package func value(of name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }
}
