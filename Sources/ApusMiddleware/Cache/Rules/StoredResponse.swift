import ApusCore
import HTTPTypes

/// The times of an exchange (RFC 9111 §4.2.3), and the number of invalidations before it.
struct CacheExchange: Hashable, Sendable {
  /// The instant at which the request was sent.
  let requestTime: CacheInstant
  /// The instant at which the head of the response arrived.
  let responseTime: CacheInstant
  /// The generation of ``CacheInvalidations`` at which the request was sent.
  var generation: UInt64 = 0
}

/// A response in a cache, without its content: what decides about its use (RFC 9111 §3, §4).
struct StoredResponse: Hashable, Sendable {
  /// The method of the request: GET, HEAD or QUERY.
  let method: HTTPRequest.Method
  let status: HTTPResponse.Status
  /// The fields without those that must not be stored.
  let fields: HTTPFields
  /// The fields of the request that `Vary` names.
  let variant: CacheVariant
  let exchange: CacheExchange
  /// The number by which decisions name the response, unique among the responses of a cache. Default: 0.
  var id: UInt64 = 0
  /// The lifetime in seconds that the endpoint gives responses without one. Default: `nil`, none.
  var endpointLifetime: Int64?
  /// The groups that the endpoint gives the response. Default: none.
  var endpointGroups: Set<String> = []
  /// The number of bytes of the stored content; `nil` while it is unknown.
  var contentLength: Int64?
  /// Whether the content was read to its end.
  var isComplete = true
  /// Whether parts of the content may answer requests for ranges. `false` for content that the transport has decoded:
  /// ranges count the bytes of the coded content.
  var servesRanges = true
  /// Whether an invalidation requires that the server validates the response before its next use (RFC 9111 §4.4).
  var isInvalidated = false

  let directives: CacheControl
  let entityTag: EntityTag?
  /// The value of `Last-Modified`, if it is a date.
  let lastModified: String?
  /// The seconds since 1970 in `Date`, or else of the arrival.
  let date: Int64
  /// The age in milliseconds at the arrival (§4.2.3).
  let initialAge: Int64
  /// The lifetime in seconds that the response states (§4.2.1): by `max-age`, else by `Expires`. `nil`: none.
  let statedLifetime: Int64?

  /// Creates a stored response from the response to a request.
  init(_ response: HTTPResponse, to request: CacheRequest, during exchange: CacheExchange) {
    let directives = CacheControl(response.headerFields)
    let fields = Self.storedFields(response.headerFields, directives)
    let variant = CacheVariant(vary: fields, request: request.fields, seal: request.seal)
    self.init(
      HTTPResponse(status: response.status, headerFields: fields), directives, (request.method, variant), exchange)
  }

  /// Creates a stored response that a store has read.
  init(_ head: HTTPResponse, method: HTTPRequest.Method, variant: CacheVariant, during exchange: CacheExchange) {
    self.init(head, CacheControl(head.headerFields), (method, variant), exchange)
  }

  private init(
    _ head: HTTPResponse, _ directives: CacheControl, _ request: (method: HTTPRequest.Method, variant: CacheVariant),
    _ exchange: CacheExchange
  ) {
    (method, variant) = request
    self.exchange = exchange
    self.directives = directives
    status = head.status
    fields = head.headerFields
    entityTag = EntityTag(fields)
    let modified = fields.contains(.lastModified) ? fields.single(.lastModified) : nil
    lastModified = modified.flatMap { HTTPDate.parse($0) == nil ? nil : $0 }
    date = fields.single(.date).flatMap { HTTPDate.parse($0) } ?? exchange.responseTime.seconds
    let apparentAge = min(max(0, exchange.responseTime.seconds.clampedMinus(date)), 1 << 40) * 1000
    let delay = exchange.requestTime.elapsed(until: exchange.responseTime) ?? 0
    initialAge = max(apparentAge, Self.age(in: fields) * 1000 + delay)
    statedLifetime = directives.maxAge ?? Self.expiresLifetime(in: fields, date: date)
  }

  /// Whether the response has a field by which the server can validate it.
  var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// The groups by which the response is invalidated: those of the endpoint and those in `Cache-Groups` (RFC 9875 §2).
  var groups: Set<String> { endpointGroups.union(CacheGroups.groups(in: fields, CacheGroups.membership)) }

  /// Whether the response may answer a request with a method: a response to GET also answers HEAD.
  func answers(_ method: HTTPRequest.Method) -> Bool {
    self.method == method || (self.method == .get && method == .head)
  }

  /// Returns the seconds in `Age`, or 0 if it is missing or invalid. Of several values the first counts (RFC 9111 §5.1).
  static func age(in fields: HTTPFields) -> Int64 {
    guard fields.contains(.age), let value = fields[fields: .age].first?.value else { return 0 }
    let first = value.utf8.prefix { $0 != UInt8(ascii: ",") }
    return CacheControl.seconds(first.trimmed) ?? 0
  }
}

extension StoredResponse {
  /// Returns the fields that may be stored (RFC 9111 §3.1): without fields of the connection, fields that `no-cache`
  /// names, and cookies, which belong to one exchange.
  static func storedFields(_ fields: HTTPFields, _ directives: CacheControl) -> HTTPFields {
    var named: Set<String> = []
    if fields.contains(.connection) {
      for value in fields[values: .connection] { named.formUnion(names(in: value)) }
    }
    if !directives.noCacheFields.isEmpty { named.formUnion(directives.noCacheFields) }
    guard fields.contains(where: { isExcluded($0.name.canonicalName, named) }) else { return fields }
    return fields.filter { !isExcluded($0.name.canonicalName, named) }
  }

  private static func isExcluded(_ name: String, _ named: Set<String>) -> Bool {
    switch name.utf8.count {
    case 2 where name == "te": true
    case 7 where name == "trailer" || name == "upgrade": true
    case 10 where name == "connection" || name == "keep-alive" || name == "set-cookie": true
    case 11 where name == "set-cookie2": true
    case 16 where name == "proxy-connection": true
    case 17 where name == "transfer-encoding": true
    case 18 where name == "proxy-authenticate": true
    case 19 where name == "proxy-authorization": true
    case 25 where name == "proxy-authentication-info": true
    default: !named.isEmpty && named.contains(name)
    }
  }

  private static func names(in value: String) -> [String] {
    value.utf8.split(separator: UInt8(ascii: ",")).map { name in
      String(decoding: name.trimmed.map(\.asciiLowercased), as: UTF8.self)
    }
  }

  /// Returns this response with the fields of a newer response for the same content: a 304, or a response to HEAD (RFC
  /// 9111 §3.2).
  ///
  /// The fields that describe the stored bytes stay. `Age` and `Date` belong to an exchange and are replaced even if the
  /// newer response has none.
  func freshened(
    by head: HTTPResponse, to request: CacheRequest, during exchange: CacheExchange
  ) -> StoredResponse {
    let newer = Self.storedFields(head.headerFields, CacheControl(head.headerFields))
      .filter { !Self.retainedFields.contains($0.name.canonicalName) }
    let names = Set(newer.map(\.name.canonicalName)).union(["age", "date"])
    var fields = fields
    fields.removeAll { names.contains($0.name.canonicalName) }
    fields.append(contentsOf: newer)
    let directives = CacheControl(fields)
    let stored = HTTPResponse(status: status, headerFields: Self.storedFields(fields, directives))
    let variant = variant.updated(vary: stored.headerFields, by: request)
    var fresh = StoredResponse(stored, directives, (method, variant), exchange)
    (fresh.id, fresh.endpointLifetime, fresh.contentLength) = (id, endpointLifetime, contentLength)
    (fresh.endpointGroups, fresh.isComplete, fresh.servesRanges) = (endpointGroups, isComplete, servesRanges)
    return fresh
  }

  private static let retainedFields: Set<String> = ["content-encoding", "content-length", "content-range"]
}
