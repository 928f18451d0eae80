public import HTTPTypes

/// The concrete description of one operation: method, path, query, fields, content and how to read the answer.
///
/// A plain value. Anything wrong with it, such as a path value `..`, is kept and thrown by the call.
public struct Request<Value: Sendable>: Endpoint {
  /// The method; its token is sent exactly as written (RFC 9110 §9.1).
  public var method: HTTPRequest.Method
  /// The path below the base URL.
  public var path: RequestPath
  /// Query parameters, in order.
  public var query: Query
  /// Fields of this request; they win over the client's, whatever their case.
  public var fields: [RawField] = []
  /// What to send as content.
  public var content: RequestContent
  /// Identity, tags, limits and settings of calls made with this request.
  public var options = CallOptions()
  /// How an accepted answer becomes the value.
  public var mapping: ResponseMapping<Value>
  /// Which statuses are accepted. Default: 200 to 299.
  public var acceptance: StatusAcceptance = .successful
  /// How a refused answer's content becomes a value of the endpoint's own type; `nil`: not at all.
  var rejectionDecoder: (@Sendable (Content) -> (any Sendable)?)?

  var endpointType: (any Endpoint.Type)?
  var failure: CallFault?

  /// Describes a request whose answer is read by `mapping`.
  ///
  /// - Parameters:
  ///   - method: any token; `GET`, `POST` and so on have factories of their own.
  ///   - path: relative to the base URL.
  ///   - query: parameters, in order.
  ///   - content: what to send.
  ///   - mapping: makes the value.
  public init(
    method: HTTPRequest.Method, path: RequestPath, query: Query = [:], content: RequestContent = .empty,
    mapping: ResponseMapping<Value>
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.content = content
    self.mapping = mapping
  }

  /// A request describes itself.
  public var request: Request<Value> { self }

  /// The same request with its answer read differently.
  public func mapped<Other: Sendable>(by mapping: ResponseMapping<Other>) -> Request<Other> {
    var other = Request<Other>(method: method, path: path, query: query, content: content, mapping: mapping)
    other.fields = fields
    other.options = options
    other.acceptance = acceptance
    other.rejectionDecoder = rejectionDecoder
    other.endpointType = endpointType
    other.failure = failure
    return other
  }
}

/// A field as the app wrote it; checked before it is sent.
public struct RawField: Sendable, Hashable {
  /// The name, in the app's spelling.
  public var name: String
  /// The value.
  public var value: String

  /// Makes a field, unchecked.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
