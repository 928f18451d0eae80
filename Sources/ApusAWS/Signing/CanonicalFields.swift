#if AWS
import HTTPTypes

/// The fields of a request that are signed, sorted by name.
struct CanonicalFields: Sendable {
  private var fields: [(name: String, values: [String])] = []

  /// - Throws: ``SigningError/missingHost``.
  init(of head: HTTPRequest) throws(SigningError) {
    guard let host = head.authority, !host.isEmpty else { throw .missingHost }
    fields.reserveCapacity(head.headerFields.count + 1)
    fields.append(("host", [host]))
    for field in head.headerFields where !Self.isUnsigned(field.name.canonicalName) {
      if let index = fields.firstIndex(where: { $0.name == field.name.canonicalName }) {
        fields[index].values.append(field.value)
      } else {
        fields.append((field.name.canonicalName, [field.value]))
      }
    }
    fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The names, separated by semicolons.
  var names: String { fields.map(\.name).joined(separator: ";") }

  /// Appends a line for each name, an empty line, and the line of names.
  func append(to text: inout CanonicalText) {
    for field in fields {
      text.append(field.name)
      text.append(":" as Unicode.Scalar)
      for (index, value) in field.values.enumerated() {
        if index > 0 { text.append("," as Unicode.Scalar) }
        text.append(field: value)
      }
      text.append("\n" as Unicode.Scalar)
    }
    text.append("\n" as Unicode.Scalar)
    for (index, field) in fields.enumerated() {
      if index > 0 { text.append(";" as Unicode.Scalar) }
      text.append(field.name)
    }
    text.append("\n" as Unicode.Scalar)
  }

  /// Whether a field is not signed, because transports, proxies and tracing add or change it.
  private static func isUnsigned(_ name: String) -> Bool {
    switch name {
    case "connection", "expect", "sec-websocket-key", "sec-websocket-protocol", "sec-websocket-version", "te",
      "traceparent", "tracestate", "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id":
      true
    default: false
    }
  }
}
#endif
