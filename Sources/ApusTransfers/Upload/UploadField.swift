import ApusCore
import HTTPTypes

/// The fields (headers) of resumable uploads.
enum UploadField {
  /// Returns the value of a field as a non-negative integer, or `nil` if the field is missing or has another value.
  static func number(_ name: String, in fields: HTTPFields) -> Int64? {
    text(name, in: fields).flatMap { ContentRange.number($0[...].utf8) }
  }

  /// Returns the value of a field as a Boolean (RFC 9651 §3.3.6), or `nil` if the field is missing or has another
  /// value.
  static func flag(_ name: String, in fields: HTTPFields) -> Bool? {
    switch text(name, in: fields) {
    case "?1": true
    case "?0": false
    default: nil
    }
  }

  /// Returns the value of a field without the spaces around it.
  static func text(_ name: String, in fields: HTTPFields) -> String? {
    // A proxy may repeat a field, and a list may be split into several fields.
    guard let name = HTTPField.Name(name), let value = fields.single(name) ?? fields[name] else { return nil }
    return String(Substring(value.utf8.trimmed))
  }
}
