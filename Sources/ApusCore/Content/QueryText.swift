/// Writes names and values as one text, percent-encoded once.
enum QueryText {
  /// For a URL's query: everything but unreserved characters is encoded, space as `%20` (RFC 3986 §3.4).
  ///
  /// - Parameter separator: stands before the first item; nothing is added when there are no items.
  static func append(_ query: Query, style: QueryStyle, after separator: String, to text: inout String) throws {
    try write(query, style: style, as: .value, after: separator, to: &text)
  }

  /// For form content: space as `+` (WHATWG URL §5.2).
  static func form(_ parameters: Query, style: QueryStyle) throws -> String {
    var text = ""
    try write(parameters, style: style, as: .form, after: "", to: &text)
    return text
  }

  /// Items that are texts already, as a URL's query.
  static func query(_ items: [(name: String, value: String)]) -> String {
    var text = ""
    for (name, value) in items { append(name, value, as: .value, after: text.isEmpty ? "" : "&", to: &text) }
    return text
  }

  private static func write(
    _ query: Query, style: QueryStyle, as component: PercentEncoding.Component, after separator: String,
    to text: inout String
  ) throws {
    var separator = separator
    for part in query.parts {
      // Most parameters are one text or number: written in place.
      if case .item(let name, let value?) = part, let value = QueryWriter.plainText(of: value) {
        append(name, value, as: component, after: separator, to: &text)
        separator = "&"
        continue
      }
      for item in try part.items(style: style) {
        append(item.name, item.value, as: component, after: separator, to: &text)
        separator = "&"
      }
    }
  }

  private static func append(
    _ name: String, _ value: String, as component: PercentEncoding.Component, after separator: String,
    to text: inout String
  ) {
    text += separator
    PercentEncoding.append(name, as: component, to: &text)
    text += "="
    PercentEncoding.append(value, as: component, to: &text)
  }
}
