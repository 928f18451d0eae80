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

/// Everything about a request but the type of its value: what the path of a call works with.
struct RequestDescription: Sendable {
  var method: HTTPRequest.Method
  var path: RequestPath
  var query: Query
  var fields: [RawField] = []
  var content: RequestContent
  var accept: AcceptedType
  var options = CallOptions()
  var acceptance = StatusAcceptance.successful
  /// How a refused answer's content becomes a value of the endpoint's own type; `nil`: not at all.
  var rejectionDecoder: (@Sendable (Content) -> (any Sendable)?)?
  /// The endpoint's type; `nil` for requests written in place.
  var endpointType: (any Endpoint.Type)?
  /// What was wrong with the description already.
  var failure: CallFault?
}

/// Holds a description, so that passing a request on costs one retain however much it describes.
final class RequestBox: Sendable {
  let description: RequestDescription

  init(_ description: RequestDescription) {
    self.description = description
  }
}

// A request may hold a password in its path, its query, its fields or its content: texts show none of them.

extension Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The endpoint's type if it has one, the method and the path's template: safe for logs.
  public var description: String { "\(EndpointIdentity(of: box))" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestPath: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path with `{}` or `{name}` in place of each value.
  public var description: String { template }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Query: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The names of the parameters; a value that writes several stands as its type.
  public var description: String {
    let names = parts.map { part in
      switch part {
      case .item(let name, _): name
      case .members(let value): "\(type(of: value))"
      }
    }
    return "[\(names.joined(separator: ", "))]"
  }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestBox: CustomReflectable {
  /// Shows nothing: a call holds it, and `dump` of whatever holds the call would find it.
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension EndpointIdentity {
  /// Reads the box in place: a call is asked for its endpoint several times, and copying the whole description costs more
  /// than these three parts.
  init(of request: RequestBox) {
    self.init(
      method: request.description.method, template: request.description.path.template,
      type: request.description.endpointType)
  }
}
