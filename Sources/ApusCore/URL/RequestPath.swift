/// A path below a base URL, written as a literal whose interpolated values are one encoded segment each.
///
/// <!-- sample: path as Request<[User]> -->
/// ```swift
/// .get("/users/\(id)/friends")          // template /users/{}/friends
/// .get("/users/\(id, "id")?fields=all") // template /users/{id}; text behind ? goes to the query
/// ```
///
/// Whatever a value holds (`/`, `?`, `#`, `%`, any language), it stays one segment. Values that are empty,
/// that hold control characters or that hold `.` or `..` as a segment, plain or encoded (`..`, `../x`, `a\..\b`,
/// `%2e%2e%2Fx`), make the call throw `invalidRequest`: servers and proxies that decode a path before they take its dot
/// segments out would reach another resource. So do absolute URLs and `//host` (RFC 3986 §3.3, §5.2.4).
public struct RequestPath: Sendable, ExpressibleByStringInterpolation {
  /// The path, percent-encoded, without its query.
  let encoded: String
  /// The path with `{}` in place of each value: for names, traces and metrics.
  let template: String
  /// Query text that stood in the literal, percent-encoded.
  let query: String?
  /// What is wrong with it.
  let fault: String?

  /// Makes a path of text without values.
  public init(stringLiteral value: String) {
    if PathRules.isPlain(value) {
      self.init(plain: value)
      return
    }
    var interpolation = StringInterpolation(literalCapacity: value.utf8.count, interpolationCount: 0)
    interpolation.appendLiteral(value)
    self.init(stringInterpolation: interpolation)
  }

  /// Text that is sent as it is.
  private init(plain text: String) {
    encoded = text
    template = text
    query = nil
    fault = nil
  }

  /// Makes a path of text and values.
  public init(stringInterpolation interpolation: StringInterpolation) {
    encoded = interpolation.encoded
    template = interpolation.template ?? interpolation.encoded
    query = interpolation.query
    fault =
      interpolation.fault ?? PathRules.reason(inPath: interpolation.encoded)
      ?? interpolation.query.flatMap(PathRules.reason(inQuery:))
  }

  /// Makes a path of segments; each is encoded whole.
  public init(segments: [String]) {
    var interpolation = StringInterpolation(literalCapacity: 0, interpolationCount: segments.count)
    for segment in segments {
      interpolation.appendLiteral("/")
      interpolation.appendInterpolation(segment)
    }
    self.init(stringInterpolation: interpolation)
  }
}

/// Builds the encoded path and its template side by side.
extension RequestPath {
  /// Takes the pieces of a path literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    var encoded = ""
    /// `nil` as long as it would equal `encoded`.
    var template: String?
    var query: String?
    var fault: String?

    /// Starts an empty path.
    public init(literalCapacity: Int, interpolationCount: Int) {
      encoded.reserveCapacity(literalCapacity + 8 * interpolationCount)
    }

    /// Text the developer wrote: kept, what URLs do not allow is percent-encoded.
    public mutating func appendLiteral(_ literal: String) {
      guard query == nil, let mark = literal.utf8.firstIndex(where: Self.needsCare) else { return append(literal[...]) }
      append(literal[..<mark])
      switch literal.utf8[mark] {
      case UInt8(ascii: "#"): fail("the path holds a fragment")
      case UInt8(ascii: "?"):
        query = ""
        append(literal[literal.utf8.index(after: mark)...])
      default: fail("the path holds a control character")
      }
    }

    /// A value: one segment of the path, or one value of the query behind `?`.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      append(value.description, name: "")
    }

    /// A value whose name stands in the template: `\(id, "id")` gives `{id}`.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible, _ name: String) {
      append(value.description, name: name)
    }

    /// A raw value: one segment of the path.
    @_disfavoredOverload
    public mutating func appendInterpolation<Raw: RawRepresentable>(_ value: Raw)
    where Raw.RawValue: CustomStringConvertible {
      append(value.rawValue.description, name: "")
    }

    /// Several segments at once: the only way for a value to hold a slash that separates.
    public mutating func appendInterpolation(segments: [String]) {
      for (index, segment) in segments.enumerated() {
        if index > 0 { appendLiteral("/") }
        append(segment, name: "")
      }
    }

    /// A missing value has no place in a path.
    @available(*, unavailable, message: "unwrap the value first: a path has no place for a missing one")
    public mutating func appendInterpolation<Wrapped>(_ value: Wrapped?) {}

    private mutating func append(_ value: String, name: String) {
      guard query == nil else {
        query?.appendEncoded(value)
        return
      }
      if let reason = PathRules.reason(inValue: value) { fail(reason) }
      if template == nil { template = encoded }
      template?.append("{\(name)}")
      encoded.appendEncoded(value)
    }

    private static func needsCare(_ byte: UInt8) -> Bool {
      byte.isControl || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "?")
    }

    private mutating func append(_ text: Substring) {
      guard !text.isEmpty else { return }
      guard query != nil else {
        template?.append(contentsOf: text)
        PercentEncoding.append(text, as: .pathText, to: &encoded)
        return
      }
      if text.utf8.contains(where: \.isControl) { fail("the query holds a control character") }
      if text.utf8.contains(UInt8(ascii: "#")) { fail("the path holds a fragment") }
      // Encodes `?` too: not all servers take one inside a query for what it is.
      query?.appendQueryText(text)
    }

    private mutating func fail(_ reason: String) {
      if fault == nil { fault = reason }
    }
  }
}

extension String {
  fileprivate mutating func appendEncoded(_ value: String) {
    PercentEncoding.append(value, as: .value, to: &self)
  }

  /// Query text that somebody wrote: what URLs do not allow is percent-encoded, and `?` as well.
  mutating func appendQueryText(_ text: Substring) {
    for (index, part) in text.utf8.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false).enumerated() {
      if index > 0 { self += "%3F" }
      PercentEncoding.append(Substring(part), as: .pathText, to: &self)
    }
  }
}
