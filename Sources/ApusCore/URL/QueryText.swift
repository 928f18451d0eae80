/// Writes names and values as one text, percent-encoded once.
enum QueryText {
  /// For a URL's query: everything but unreserved characters is encoded, space as `%20` (RFC 3986 §3.4).
  ///
  /// - Parameter separator: stands before the first item; nothing is added when there are no items.
  static func append(_ query: Query, style: QueryStyle, after separator: String, to text: inout String) throws {
    var writer = Writer(text: text, component: .value, separator: separator)
    // Moved, not copied: the text is the target under construction.
    text = ""
    defer { text = writer.text }
    try writer.append(query, style: style)
  }

  /// For form content: space as `+` (WHATWG URL §5.2).
  static func form(_ parameters: Query, style: QueryStyle) throws -> String {
    var writer = Writer(text: "", component: .form, separator: "")
    try writer.append(parameters, style: style)
    return writer.text
  }

  /// Items that are texts already, as a URL's query.
  static func query(_ items: [(name: String, value: String)]) -> String {
    var writer = Writer(text: "", component: .value, separator: "")
    for (name, value) in items { writer.append(name, value) }
    return writer.text
  }

  /// The text so far, and what stands before the next item.
  private struct Writer {
    var text: String
    let component: PercentEncoding.Component
    var separator: String

    mutating func append(_ query: Query, style: QueryStyle) throws {
      for part in query.parts {
        // Most parameters are one text or number: written in place.
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
