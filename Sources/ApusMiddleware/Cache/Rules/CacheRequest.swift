import ApusCore
import HTTPTypes

/// The parts of a request that concern a cache, read in one pass over its fields.
struct CacheRequest: Sendable {
  /// The method.
  let method: HTTPRequest.Method
  /// The fields as sent.
  let fields: HTTPFields
  /// The directives of `Cache-Control`, or `no-cache` from `Pragma` without `Cache-Control` (RFC 9111 §5.4). The policy
  /// of the call adds its own.
  var directives = CacheControl()
  /// The staleness in seconds up to which the call accepts a stored response in place of an error. Default: `nil`, what
  /// the server allows.
  var allowedStaleness: Int64?
  /// Whether the target has a query: heuristic freshness does not apply.
  let hasQuery: Bool
  /// Replaces secrets in the values of fields that `Vary` names. Default: no replacement.
  var seal: CacheVariant.Seal = { _, value in value }

  /// The range of a GET; other methods have no ranges (RFC 9110 §14.2).
  private(set) var range: RangeRequest?
  /// Whether the request has `If-Match` or `If-Unmodified-Since`, which only the server evaluates, or a range of a QUERY.
  private(set) var isForServer = false
  /// Whether the request has `If-None-Match`, `If-Modified-Since` or `If-Range`.
  private(set) var isConditional = false

  /// Reads a request.
  init(_ head: HTTPRequest) {
    method = head.method
    fields = head.headerFields
    hasQuery = head.path?.utf8.contains(UInt8(ascii: "?")) ?? false
    var pragmaHasNoCache = false
    for field in fields {
      let name = field.name.canonicalName
      // Most names are told apart by their length, which costs less than a comparison of text.
      switch name.utf8.count {
      case 5 where name == "range": readRange(field.value)
      case 6 where name == "pragma": pragmaHasNoCache = pragmaHasNoCache || Self.hasNoCache(field.value)
      case 8 where name == "if-match": isForServer = true
      case 8 where name == "if-range": isConditional = true
      case 13 where name == "cache-control": directives.read(field)
      case 13 where name == "if-none-match": isConditional = true
      case 17 where name == "if-modified-since": isConditional = true
      case 19 where name == "if-unmodified-since": isForServer = true
      default: break
      }
    }
    if pragmaHasNoCache, !directives.isPresent { directives.noCache = true }
  }

  private mutating func readRange(_ value: String) {
    switch method.rawValue {
    case "GET": range = range == nil ? RangeRequest(value) : .unsupported
    case "QUERY": isForServer = true
    default: break
    }
  }

  /// Whether stored responses may answer requests with the method (RFC 9110 §9.2.3, RFC 10008).
  var isCacheable: Bool { method.isStorable }

  /// The field `Pragma`, which HTTP/1.0 has in place of `Cache-Control`.
  static let pragma = HTTPField.Name("Pragma")

  /// Whether a value of `Pragma` contains `no-cache`.
  static func hasNoCache(_ value: String) -> Bool {
    FieldList.elements(of: Array(value.utf8)[...], allowsEscapes: true).contains { element in
      element.map(\.asciiLowercased).elementsEqual("no-cache".utf8)
    }
  }
}
