/// Writes names and values as one text, percent-encoded once.
enum QueryText {
  typealias Items = [(name: String, value: String)]

  /// For a URL's query: everything but unreserved characters is encoded, space as `%20` (RFC 3986 §3.4).
  static func query(_ items: Items) -> String { text(items, as: .value) }

  /// For form content: space as `+` (WHATWG URL §5.2).
  static func form(_ items: Items) -> String { text(items, as: .form) }

  private static func text(_ items: Items, as component: PercentEncoding.Component) -> String {
    var text = ""
    for (index, item) in items.enumerated() {
      if index > 0 { text += "&" }
      PercentEncoding.append(item.name, as: component, to: &text)
      text += "="
      PercentEncoding.append(item.value, as: component, to: &text)
    }
    return text
  }
}
