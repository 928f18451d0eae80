/// One field line of a message (one line of its headers or trailers) as sent on the wire (RFC 9110 section 5).
package struct FieldLine: Sendable, Hashable, CustomStringConvertible {
  /// The name, in the case it was sent in.
  package var name: String
  /// The value, without leading and trailing white space.
  package var value: String

  /// Creates a line. Neither part is validated, because a test may send an invalid line.
  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// The line as sent on the wire, without CRLF.
  package var description: String { "\(name): \(value)" }
}

/// The fields (headers) or trailers of a message in a test, in order: `["ETag": "\"v1\"", "Retry-After": "1"]`.
///
/// A name may be repeated, for several lines of one field.
public struct FieldLines: Sendable, Hashable {
  /// The lines in order, neither merged nor normalized.
  ///
  /// `HTTPFields` of HTTPTypes replaces invalid values. With these lines, tests can send and inspect the exact bytes on
  /// the wire.
  package private(set) var lines: [FieldLine]

  /// Creates a list of lines in the given order.
  package init(_ lines: [FieldLine] = []) {
    self.lines = lines
  }

  /// The value of a field, or `nil` if no line has the name. Several lines are joined by ", " (RFC 9110 section 5.3).
  ///
  /// Setting a value replaces all lines of that name with one line; setting `nil` removes them. Names are compared
  /// case-insensitively.
  public subscript(name: String) -> String? {
    get {
      let values = values(of: name)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      let position = lines.firstIndex { Self.isSame($0.name, name) }
      lines.removeAll { Self.isSame($0.name, name) }
      if let newValue { lines.insert(FieldLine(name: name, value: newValue), at: position ?? lines.endIndex) }
    }
  }

  /// Returns the values of all lines with a name (compared case-insensitively), in order.
  package func values(of name: String) -> [String] {
    lines.filter { Self.isSame($0.name, name) }.map(\.value)
  }

  /// Appends a line, even if the list already has a line with the same name.
  package mutating func append(_ line: FieldLine) {
    lines.append(line)
  }

  /// Whether a comma-separated field has `token` among its members, compared case-insensitively.
  package func contains(_ token: String, in name: String) -> Bool {
    values(of: name).contains { value in
      value.split(separator: ",").contains { Self.isSame(String($0.trimmingPrefix(while: \.isWhitespace)), token) }
    }
  }

  /// The lines as sent on the wire, not validated.
  package var wireFormat: String { lines.map { "\($0)\r\n" }.joined() }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || one.lowercased() == other.lowercased()
  }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
  /// Creates lines in the order written; a name may be repeated.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map(FieldLine.init(name:value:)))
  }
}
