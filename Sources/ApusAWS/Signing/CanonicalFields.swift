import HTTPTypes

/// The signed fields of a request, sorted by name.
struct CanonicalFields: Sendable {
  private struct Field: Sendable {
    let name: String
    let value: String
  }

  /// The fields. Fields with the same name stay in their order.
  private var fields: [Field] = []
  /// The names, separated by semicolons.
  private(set) var names = ""

  /// - Throws: ``SigningError/missingHost``.
  init(of head: HTTPRequest) throws(SigningError) {
    guard let host = head.authority, !host.isEmpty else { throw .missingHost }
    fields.reserveCapacity(head.headerFields.count + 1)
    fields.append(Field(name: "host", value: host))
    for field in head.headerFields {
      let name = field.name.canonicalName
      if !Self.isUnsigned(name) { fields.append(Field(name: name, value: field.value)) }
    }
    sort()
    names.reserveCapacity(24 * fields.count)
    for (index, field) in fields.enumerated() where index == 0 || fields[index - 1].name != field.name {
      if index > 0 { names += ";" }
      names += field.name
    }
  }

  /// Appends a line for each field, an empty line, and the line of names.
  func append(to text: inout CanonicalText) {
    for (index, field) in fields.enumerated() {
      if index > 0, fields[index - 1].name == field.name {
        text.append("," as Unicode.Scalar)
      } else {
        if index > 0 { text.append("\n" as Unicode.Scalar) }
        text.append(field.name)
        text.append(":" as Unicode.Scalar)
      }
      text.append(field: field.value)
    }
    text.append("\n\n")
    text.append(names)
    text.append("\n" as Unicode.Scalar)
  }

  /// Sorts by name. Up to 24 fields use insertion sort, which allocates no memory; more fields are sorted in O(n log
  /// n).
  private mutating func sort() {
    guard fields.count <= 24 else {
      let order = fields.indices.sorted { (fields[$0].name, $0) < (fields[$1].name, $1) }
      fields = order.map { fields[$0] }
      return
    }
    for index in fields.indices.dropFirst() {
      var place = index
      while place > 0, fields[place].name < fields[place - 1].name {
        fields.swapAt(place, place - 1)
        place -= 1
      }
    }
  }

  /// Whether a field is not signed, because transports, proxies or tracing add or change it.
  private static func isUnsigned(_ name: String) -> Bool {
    // Comparing the lengths first is faster than comparing with each name.
    switch name.utf8.count {
    case 2: name == "te"
    case 6: name == "expect"
    case 7: name == "upgrade"
    case 10: name == "connection" || name == "user-agent" || name == "tracestate"
    case 11: name == "traceparent"
    case 15: name == "x-amzn-trace-id"
    case 17: name == "transfer-encoding" || name == "sec-websocket-key"
    case 21: name == "sec-websocket-version"
    case 22: name == "sec-websocket-protocol"
    default: false
    }
  }
}
