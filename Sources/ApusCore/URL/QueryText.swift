/// Formatting of parameters as percent-encoded text.
enum QueryText {
  /// Appends parameters to a URL. All except unreserved characters are encoded, space as `%20` (RFC 3986 §3.4).
  ///
  /// - Parameter separator: the text before the first parameter.
  static func append(_ query: Query, style: QueryStyle, after separator: String, to text: inout String) throws {
    var writer = Writer(text: text, component: .value, separator: separator)
    // Moved, so that the text is not copied.
    text = ""
    defer { text = writer.text }
    try writer.append(query, style: style)
  }

  /// Returns parameters as form content, with space as `+` (WHATWG URL §5.2).
  static func form(_ parameters: Query, style: QueryStyle) throws -> String {
    var writer = Writer(text: "", component: .form, separator: "")
    try writer.append(parameters, style: style)
    return writer.text
  }

  /// Returns names and values as the query of a URL.
  static func query(_ items: [(name: String, value: String)]) -> String {
    var writer = Writer(text: "", component: .value, separator: "")
    for (name, value) in items { writer.append(name, value) }
    return writer.text
  }

  private struct Writer {
    var text: String
    let component: PercentEncoding.Component
    /// The text before the next parameter.
    var separator: String

    mutating func append(_ query: Query, style: QueryStyle) throws {
      for part in query.parts {
        // Most parameters are a single text or number, which needs no `QueryWriter`.
        if case .item(let name, let value?) = part, let value = QueryWriter.plainText(of: value) {
          append(name, value)
          continue
        }
        for item in try part.items(style: style) { append(item.name, item.value) }
      }
    }

    mutating func append(_ name: String, _ value: String) {
      text += separator
      PercentEncoding.append(name, as: component, to: &text)
      text += "="
      PercentEncoding.append(value, as: component, to: &text)
      separator = "&"
    }
  }
}
