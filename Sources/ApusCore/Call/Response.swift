public import HTTPTypes

/// The value of a call with its response head, trailers and trace.
///
/// A response keeps neither its client nor a connection alive. Fakes and previews can create responses.
public struct Response<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  let box: CallRecord.Box

  init(value: Value, of call: Call) {
    self.init(value: value, CallRecord.Box(CallRecord(of: call)))
  }

  init(value: Value, _ box: CallRecord.Box) {
    (self.value, self.box) = (value, box)
  }

  /// Creates a response for fakes and previews.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - status: the status, from 0 to 999. Default: 200.
  ///   - fields: the names and values of the fields (headers); a name that is not a token is left out. Default: none.
  public init(value: Value, status: Int = 200, fields: [String: String] = [:]) {
    self.init(value: value, status: status, HTTPFields(fields))
  }

  init(value: Value, status: Int, _ fields: HTTPFields) {
    var record = CallRecord(Trace(id: .none, endpoint: .none))
    record.head = HTTPResponse(status: .init(code: min(max(status, 0), 999)), headerFields: fields)
    self.init(value: value, CallRecord.Box(record))
  }

  /// The call's id.
  public var id: CallID { trace.id }
  /// The status and all fields (headers) of the response.
  public var head: HTTPResponse { box.record.head ?? HTTPResponse(status: .ok) }
  /// The status.
  public var status: Int { head.status.code }
  package var fields: HTTPFields { head.headerFields }
  /// The version of HTTP over which the response came. `nil` if the transport does not report it or an app created the
  /// response.
  public var protocolVersion: HTTPVersion? { box.record.protocolVersion }
  /// The URL that the response came from, after redirects, with its query; relative links in the response are relative
  /// to it. `nil` if an app created the response. Do not log the URL, because it may contain secrets.
  public var url: String? { box.record.url?.text }
  /// The trailer fields, see ``ResponseContent/trailers``.
  public var trailers: HTTPFields { box.record.trailers }
  /// The trace of the call.
  public var trace: Trace { box.record.trace }
  /// The decision of the client's cache about the call, or `nil` without a cache.
  public var cacheStatus: CacheStatus? { trace.cacheStatus }

  /// Returns the value of a field (header) by its case-insensitive name. The values of several fields with that name
  /// are joined by commas (RFC 9110 §5.3).
  ///
  /// - Returns: the value, or `nil` if no field has the name or the name is not a token.
  public func field(_ name: String) -> String? { fields.value(of: name) }

  /// Returns the response with its value transformed.
  ///
  /// - Throws: the error of `transform`.
  public func map<Other: Sendable, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Other
  ) throws(Failure) -> Response<Other> {
    Response<Other>(value: try transform(value), box)
  }
}

extension Response {
  /// The links of the `Link` fields, in order (RFC 8288).
  public var links: [WebLink] { WebLink.all(in: fields) }

  /// Returns the first link of this resource with a relation type such as `next`. Relation types are case-insensitive;
  /// links whose context is another resource are ignored (RFC 8288 §3.2).
  public func link(_ relation: String) -> WebLink? {
    WebLinks(in: fields).first(relation.lowercased())
  }

  /// The server's rate limit as reported by the response, or `nil`.
  public var rateLimit: ServerRateLimit? { ServerRateLimit(fields) }
}

extension HTTPFields {
  /// Creates fields in the order of their names. Names that are not tokens are left out.
  fileprivate init(_ fields: [String: String]) {
    self.init()
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      if let name = HTTPField.Name(name) { self[name] = value }
    }
  }
}
