import ApusCore

/// The encoding of form and query parameters (WHATWG URL §5) in OAuth.
enum FormText {
  /// The maximum number of decoded parameters.
  static let maximumCount = 100

  /// Encodes a name or a value: all characters except unreserved characters are escaped, and a space becomes `+`.
  static func encoded(_ text: String) -> String {
    var encoded = ""
    for (index, part) in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).enumerated() {
      if index > 0 { encoded += "+" }
      PercentEncoding.append(Substring(part), as: .value, to: &encoded)
    }
    return encoded
  }

  /// Encodes parameters in order.
  static func encoded(_ parameters: [(name: String, value: String)]) -> String {
    parameters.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
  }

  /// Adds parameters to a URL. The URL may already have a query.
  static func url(_ url: String, adding parameters: [(name: String, value: String)]) -> String {
    let separator = !url.utf8.contains(UInt8(ascii: "?")) ? "?" : url.utf8.last == UInt8(ascii: "?") ? "" : "&"
    return url + separator + encoded(parameters)
  }

  /// Decodes parameters. Returns `nil` if there are more than `maximumCount`, or if a name occurs twice. RFC 6749 §3.1
  /// forbids repeated names, and receivers interpret them differently.
  static func decoded(_ text: some StringProtocol) -> [String: String]? {
    var values: [String: String] = [:]
    let items = text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: maximumCount)
    guard items.count <= maximumCount else { return nil }
    for item in items {
      let (name, value) = parameter(item)
      guard values[name] == nil else { return nil }
      values[name] = value
    }
    return values
  }

  /// Returns every value of a parameter, in order.
  static func values(of name: String, in text: some StringProtocol) -> [String] {
    text.utf8.split(separator: UInt8(ascii: "&")).map { parameter($0) }.filter { $0.name == name }.map(\.value)
  }

  private static func parameter(_ item: some Collection<UInt8>) -> (name: String, value: String) {
    let sign = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
    return (decodedPart(item[..<sign]), sign < item.endIndex ? decodedPart(item[item.index(after: sign)...]) : "")
  }

  private static func decodedPart(_ bytes: some Sequence<UInt8>) -> String {
    let spaced = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(decoding: PercentEncoding.decode(bytes: spaced), as: UTF8.self)
  }
}
