import Foundation

/// The parameters of a request's query. Malformed percent-escapes are rejected.
struct Query: Equatable, Sendable {
  private var values: [String: String] = [:]
  /// The names of parameters that are repeated, which OAuth forbids (RFC 6749 §3.1).
  private(set) var repeated: Set<String> = []

  /// - Parameter text: the query without its question mark.
  /// - Throws: `Problem` with status 400 for a malformed percent-escape.
  init(_ text: String?) throws(Problem) {
    for pair in (text ?? "").utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "".utf8[...])
      else {
        throw .badRequest("The query has a malformed percent-escape.")
      }
      // If a parameter is repeated, its first value is used, as in most frameworks.
      if values[name] == nil { values[name] = value } else { repeated.insert(name) }
    }
  }

  /// Returns the value of a parameter; `nil` when it is missing.
  subscript(name: String) -> String? { values[name] }

  /// Returns the value of a parameter, or a default when it is missing.
  subscript(name: String, default fallback: String) -> String { values[name] ?? fallback }

  /// Returns the value of a parameter as an integer, or a default when it is missing.
  ///
  /// - Throws: `Problem` with status 422 when it is not an integer in the range.
  func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(Problem) -> Int {
    guard let text = values[name] else { return fallback }
    guard let number = Int(text), range.contains(number) else {
      let message = "must be an integer from \(range.lowerBound) to \(range.upperBound)"
      throw .invalid([FieldError(field: name, message: message)])
    }
    return number
  }

  private static func decoded(_ text: Substring.UTF8View) -> String? {
    let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(decoding: spaced, as: UTF8.self).removingPercentEncoding
  }
}
