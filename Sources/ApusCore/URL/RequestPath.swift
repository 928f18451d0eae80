#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A path below a base URL, written as a literal. Each interpolated value is encoded as one segment.
///
/// <!-- sample: path as Request<[User]> -->
/// ```swift
/// .get("/users/\(id)/friends")          // template /users/{}/friends
/// .get("/users/\(id, "id")?fields=all") // template /users/{id}; text after ? is the query
/// ```
///
/// A value stays one segment even if it contains `/`, `?`, `#` or `%`. A call fails with `invalidRequest` if a value is
/// empty, contains a control character, or contains `.` or `..` as a segment, plain or encoded (`..`, `../x`, `a\..\b`,
/// `%2e%2e%2Fx`): servers and proxies that decode a path before they remove dot segments would select another resource.
/// Absolute URLs and `//host` fail, too (RFC 3986 §3.3, §5.2.4). For a URL that is known only at run time, use
/// ``url(_:relativeTo:)-(String,_)`` instead of a path.
public struct RequestPath: Sendable, ExpressibleByStringInterpolation {
  /// The percent-encoded path without the query.
  let encoded: String
  /// The path with `{}` or `{name}` in place of each value, for traces and metrics.
  let template: String
  /// The percent-encoded query of the literal.
  let query: String?
  /// The reason why the path is invalid.
  let fault: String?
  /// The origin, if this is a complete URL.
  let origin: Origin?
  /// Whether a response named the URL, so that an unusable URL is the server's fault.
  private(set) var isNamed = false
  /// Whether this URL uses http and was named by a response received over https.
  package private(set) var leavesHTTPS = false

  /// Creates a path from text without values.
  public init(stringLiteral value: String) {
    if PathRules.isPlain(value) {
      self.init(plain: value)
      return
    }
    var interpolation = StringInterpolation(literalCapacity: value.utf8.count, interpolationCount: 0)
    interpolation.appendLiteral(value)
    self.init(stringInterpolation: interpolation)
  }

  private init(plain text: String) {
    encoded = text
    template = text
    query = nil
    fault = nil
    origin = nil
  }

  /// Creates a path from text and values.
  public init(stringInterpolation interpolation: StringInterpolation) {
    encoded = interpolation.encoded
    template = interpolation.template ?? interpolation.encoded
    query = interpolation.query
    origin = nil
    fault =
      interpolation.fault ?? PathRules.reason(inPath: interpolation.encoded)
      ?? interpolation.query.flatMap(PathRules.reason(inQuery:))
  }

  /// Creates a path from segments. Each segment is encoded like an interpolated value.
  package init(segments: [String]) {
    var interpolation = StringInterpolation(literalCapacity: 0, interpolationCount: segments.count)
    for segment in segments {
      interpolation.appendLiteral("/")
      interpolation.appendInterpolation(segment)
    }
    self.init(stringInterpolation: interpolation)
  }
}

extension RequestPath {
  /// Creates a complete URL that is known only at run time, for example a link in a response, a file on another server
  /// or a presigned URL.
  ///
  /// <!-- sample: url as Request<Data> -->
  /// ```swift
  /// .get(.url("https://cdn.example.com/avatars/7.png"))
  /// .get(.url("?page=2", relativeTo: "https://api.example.com/avatars"))    // usually the `url` of a response
  /// ```
  ///
  /// The URL is sent unchanged: neither the base URL nor common query parameters are added. The environment's
  /// credentials and sensitive fields are sent only to the origins that they belong to. A call fails with
  /// `invalidRequest` if the URL has a scheme other than http and https, user information, an invalid host or an
  /// ambiguous path. Characters that a URL must escape are escaped, `.` and `..` segments are removed, and a fragment
  /// is not sent (RFC 3986 §5, RFC 9110 §7.1).
  ///
  /// - Parameters:
  ///   - text: the URL.
  ///   - base: the complete URL to which `text` may be relative, for example ``Response/url``. Default: `nil`, `text`
  ///     must be complete.
  public static func url(_ text: String, relativeTo base: String? = nil) -> RequestPath {
    do {
      let base = try base.map { base throws(URLReference.Fault) in try URLReference(base.utf8, relativeTo: nil) }
      return RequestPath(try URLReference(text.utf8, relativeTo: base.map { ($0.origin, $0.target) }))
    } catch {
      let hint = error == .relative ? "; pass the URL that it is relative to" : ""
      return RequestPath(fault: "the URL \(error.reason)\(hint)")
    }
  }

  /// Creates a complete URL that is known only at run time, see ``url(_:relativeTo:)-(String,_)``.
  public static func url(_ url: URL, relativeTo base: String? = nil) -> RequestPath {
    .url(url.absoluteString, relativeTo: base)
  }

  private init(_ url: URLReference) {
    let target = url.target.utf8
    let mark = target.firstIndex(of: UInt8(ascii: "?"))
    encoded = String(Substring(target[..<(mark ?? target.endIndex)]))
    query = mark.map { String(Substring(target[$0...].dropFirst())) }
    origin = url.origin
    // The path of a URL may be secret, and has no placeholders for its values.
    template = "\(url.origin)/{url}"
    fault = nil
  }

  /// Returns the path as named by a response. A path below the base URL is returned unchanged.
  ///
  /// - Parameter source: the origin of the response. `nil`: unknown.
  package func named(by source: Origin?) -> RequestPath {
    guard isURL else { return self }
    var path = self
    path.isNamed = true
    if let origin, let source, origin.isDowngrade(from: source) { path.leavesHTTPS = true }
    return path
  }

  /// Whether this is a complete URL, also if it cannot be used.
  private var isURL: Bool { origin != nil || template == Self.faultyTemplate }
  private static let faultyTemplate = "{url}"

  private init(fault: String) {
    (encoded, query, origin, template, self.fault) = ("", nil, nil, Self.faultyTemplate, fault)
  }
}

extension RequestPath {
  /// A builder for path literals, which creates the encoded path and its template together.
  public struct StringInterpolation: StringInterpolationProtocol {
    var encoded = ""
    /// The template; `nil` while it equals `encoded`.
    var template: String?
    var query: String?
    var fault: String?

    /// Creates an empty path.
    public init(literalCapacity: Int, interpolationCount: Int) {
      encoded.reserveCapacity(literalCapacity + 8 * interpolationCount)
    }

    /// Appends literal text. Characters that are not allowed in URLs are percent-encoded.
    public mutating func appendLiteral(_ literal: String) {
      guard query == nil, let mark = literal.utf8.firstIndex(where: Self.needsCare) else { return append(literal[...]) }
      append(literal[..<mark])
      switch literal.utf8[mark] {
      case UInt8(ascii: "#"): fail("the path contains a fragment")
      case UInt8(ascii: "?"):
        query = ""
        append(literal[literal.utf8.index(after: mark)...])
      default: fail("the path contains a control character")
      }
    }

    /// Appends a value as one segment of the path or, after `?`, as one value of the query.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      append(value.description, name: "")
    }

    /// Appends a value with a name for the template: `\(id, "id")` becomes `{id}`.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible, _ name: String) {
      append(value.description, name: name)
    }

    /// Appends a raw value as one segment of the path.
    @_disfavoredOverload
    public mutating func appendInterpolation<Raw: RawRepresentable>(_ value: Raw)
    where Raw.RawValue: CustomStringConvertible {
      append(value.rawValue.description, name: "")
    }

    /// Appends several segments, separated by slashes.
    public mutating func appendInterpolation(segments: [String]) {
      for (index, segment) in segments.enumerated() {
        if index > 0 { appendLiteral("/") }
        append(segment, name: "")
      }
    }

    /// An optional value cannot be part of a path.
    @available(*, unavailable, message: "unwrap the value first: an optional value cannot be part of a path")
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
      if text.utf8.contains(where: \.isControl) { fail("the query contains a control character") }
      if text.utf8.contains(UInt8(ascii: "#")) { fail("the path contains a fragment") }
      // Also encodes `?`, which some servers misread inside a query.
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

  /// Appends literal query text. Characters that are not allowed in URLs are percent-encoded, and so is `?`.
  mutating func appendQueryText(_ text: Substring) {
    for (index, part) in text.utf8.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false).enumerated() {
      if index > 0 { self += "%3F" }
      PercentEncoding.append(Substring(part), as: .pathText, to: &self)
    }
  }
}
