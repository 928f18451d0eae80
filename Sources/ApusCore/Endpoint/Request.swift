public import HTTPTypes

/// The concrete description of one operation: method, path, query, fields, content and how to read the answer.
///
/// A plain value. Anything wrong with it, such as a path value `..`, is kept and thrown by the call.
public struct Request<Value: Sendable>: Endpoint {
  /// Shared until one copy is changed, which then gets a box of its own.
  private(set) var box: RequestBox
  /// How an accepted answer becomes the value.
  public var mapping: ResponseMapping<Value> {
    didSet { details.accept = mapping.accepted }
  }

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
    box = RequestBox(
      RequestDescription(method: method, path: path, query: query, content: content, accept: mapping.accepted))
    self.mapping = mapping
  }

  private init(_ description: RequestDescription, mapping: ResponseMapping<Value>) {
    box = RequestBox(description)
    self.mapping = mapping
  }

  /// A request describes itself.
  public var request: Request<Value> { self }

  var details: RequestDescription {
    get { box.description }
    set { box = RequestBox(newValue) }
  }

  /// The method; its token is sent exactly as written (RFC 9110 §9.1).
  public var method: HTTPRequest.Method {
    get { details.method }
    set { details.method = newValue }
  }

  /// The path below the base URL.
  public var path: RequestPath {
    get { details.path }
    set { details.path = newValue }
  }

  /// Query parameters, in order.
  public var query: Query {
    get { details.query }
    set { details.query = newValue }
  }

  /// Fields of this request; they win over the client's, whatever their case.
  public var fields: [RawField] {
    get { details.fields }
    set { details.fields = newValue }
  }

  /// What to send as content.
  public var content: RequestContent {
    get { details.content }
    set { details.content = newValue }
  }

  /// Identity, tags, limits and settings of calls made with this request.
  public var options: CallOptions {
    get { details.options }
    set { details.options = newValue }
  }

  /// Which statuses are accepted. Default: 200 to 299.
  public var acceptance: StatusAcceptance {
    get { details.acceptance }
    set { details.acceptance = newValue }
  }

  /// The same request with its answer read differently.
  public func mapped<Other: Sendable>(by mapping: ResponseMapping<Other>) -> Request<Other> {
    var description = details
    description.accept = mapping.accepted
    return Request<Other>(description, mapping: mapping)
  }
}
