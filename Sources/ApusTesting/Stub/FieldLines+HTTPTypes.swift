package import ApusWaiting
package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension FieldLines {
  /// Creates the lines of fields.
  package init(_ fields: HTTPFields) {
    self.init(fields.map { FieldLine(name: $0.name.rawName, value: $0.value) })
  }

  /// The fields of the valid lines.
  package var httpFields: HTTPFields {
    HTTPFields(lines.compactMap(\.httpField))
  }
}

extension FieldLine {
  /// The field, or `nil` if the name or the value is not valid.
  var httpField: HTTPField? {
    guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { return nil }
    return HTTPField(name: name, value: value)
  }
}

/// Replies whose fields are given as `HTTPFields`.
extension StubReply {
  @_disfavoredOverload
  package static func status(_ status: Int, fields: HTTPFields, content: String = "") -> StubReply {
    .status(status, fields: FieldLines(fields), content: content)
  }

  @_disfavoredOverload
  package static func json(_ json: String, status: Int = 200, fields: HTTPFields) -> StubReply {
    .json(json, status: status, fields: FieldLines(fields))
  }

  @_disfavoredOverload
  package static func encoded(_ value: some Encodable, status: Int = 200, fields: HTTPFields) -> StubReply {
    .encoded(value, status: status, fields: FieldLines(fields))
  }

  @_disfavoredOverload
  package static func text(_ text: String, status: Int = 200, fields: HTTPFields) -> StubReply {
    .text(text, status: status, fields: FieldLines(fields))
  }

  @_disfavoredOverload
  package static func bytes(
    _ bytes: Data, type: String = "application/octet-stream", status: Int = 200, fields: HTTPFields
  ) -> StubReply {
    .bytes(bytes, type: type, status: status, fields: FieldLines(fields))
  }

  @_disfavoredOverload
  package static func pieces(
    _ pieces: [String], gate: Gate? = nil, status: Int = 200, fields: HTTPFields
  ) -> StubReply {
    .pieces(pieces, gate: gate, status: status, fields: FieldLines(fields))
  }

  @_disfavoredOverload
  package static func pieces(
    _ pieces: [Data], gate: Gate? = nil, status: Int = 200, fields: HTTPFields
  ) -> StubReply {
    .pieces(pieces, gate: gate, status: status, fields: FieldLines(fields))
  }
}
