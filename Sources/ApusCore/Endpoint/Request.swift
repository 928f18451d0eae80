public import HTTPTypes

/// The description of an operation: method, path, query, fields (headers), content (body) and response mapping.
///
/// An invalid description, for example with the path value `..`, makes its calls fail.
public struct Request<Value: Sendable>: Endpoint {
  /// Shared by copies until one of them changes.
  private(set) var box: RequestBox
  /// The mapping of an accepted response to the value.
  package var mapping: ResponseMapping<Value> {
    didSet { details.accept = mapping.accepted }
  }

  /// Creates a request. For the usual methods there are factory methods such as `get` and `post`.
  ///
  /// - Parameters:
  ///   - method: the method, any token.
  ///   - path: the path below the base URL.
  ///   - query: the query parameters, in order. Default: none.
  ///   - content: the content to send. Default: none.
  ///   - mapping: the mapping of an accepted response to the value.
  public init(
    method: HTTPRequest.Method, path: RequestPath, query: Query = [:], content: RequestContent = .empty,
    mapping: ResponseMapping<Value>
  ) {
    box = RequestBox(
      RequestDescription(method: method, path: path, query: query, content: content, accept: mapping.accepted))
    self.mapping = mapping
  }

  /// Creates a request that differs from `request` only in its mapping.
  init<Other>(of request: Request<Other>, mapping: ResponseMapping<Value>) {
    var description = request.details
    description.accept = mapping.accepted
    box = RequestBox(description)
    self.mapping = mapping
  }

  /// The request itself.
  public var request: Request<Value> { self }

  /// Creates a request from the description of another request.
  init(_ box: RequestBox, mapping: ResponseMapping<Value>) {
    (self.box, self.mapping) = (box, mapping)
  }

  var details: RequestDescription {
    get { box.description }
    set { box = RequestBox(newValue) }
  }

  /// The method, sent exactly as written (RFC 9110 §9.1).
  public var method: HTTPRequest.Method {
    get { details.method }
    set { details.method = newValue }
  }

  /// The path below the base URL.
  public var path: RequestPath {
    get { details.path }
    set { details.path = newValue }
  }

  /// The query parameters, in order.
  package var query: Query {
    get { details.query }
    set { details.query = newValue }
  }

  /// The fields of this request. They take precedence over the client's fields with the same name, ignoring case.
  public var fields: [RawField] {
    get { details.fields }
    set { details.fields = newValue }
  }

  /// The content to send.
  package var content: RequestContent {
    get { details.content }
    set { details.content = newValue }
  }

  /// The identity, tags, limits and settings of calls with this request.
  public var options: CallOptions {
    get { details.options }
    set { details.options = newValue }
  }

  /// The statuses that count as success. Default: 200 to 299.
  package var acceptance: StatusAcceptance {
    get { details.acceptance }
    set { details.acceptance = newValue }
  }
}

/// A request without the type of its value, so that the code that performs calls is not generic.
struct RequestDescription: Sendable {
  var method: HTTPRequest.Method
  var path: RequestPath
  var query: Query
  var fields: [RawField] = []
  var content: RequestContent
  var accept: AcceptedType
  var options = CallOptions()
  var acceptance = StatusAcceptance.successful
  /// Decodes the content of a rejection as a type of the endpoint. `nil` if the endpoint declares no type.
  var rejectionDecoder: (@Sendable (Content) -> (any Sendable)?)?
  /// The endpoint's type, or `nil` for a `Request` that is used directly.
  var endpointType: (any Endpoint.Type)?
  /// The error that the endpoint's `request` threw, or `nil`.
  var failure: (any Error)?
}

/// A box around a description, so that passing a request on costs one retain.
final class RequestBox: Sendable {
  let description: RequestDescription

  init(_ description: RequestDescription) {
    self.description = description
  }
}

// Path, query, fields and content may contain secrets, so the following descriptions contain none of their values.

extension Request: SelfRedacting {
  /// The endpoint's type if it has one, the method and the path's template. Safe for logs.
  public var description: String { "\(EndpointIdentity(of: box))" }
}

extension RequestPath: SelfRedacting {
  /// The path with `{}` or `{name}` in place of each value.
  public var description: String { template }
}

extension Query: SelfRedacting {
  /// The names of the parameters. An encodable value that provides several parameters is described by its type.
  public var description: String {
    let names = parts.map { part in
      switch part {
      case .item(let name, _): name
      case .members(let value): "\(type(of: value))"
      }
    }
    return "[\(names.joined(separator: ", "))]"
  }
}

extension RequestBox: CustomReflectable {
  /// Empty, because `dump` of a call reaches the box.
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension EndpointIdentity {
  // Reads the box in place, because copying the whole description costs more than copying three properties.
  init(of request: RequestBox) {
    self.init(
      method: request.description.method, template: request.description.path.template,
      type: request.description.endpointType)
  }
}

extension RequestBox {
  /// Returns the complete, validated request message. Pure and synchronous.
  ///
  /// - Parameters:
  ///   - base: the base URL.
  ///   - coding: the coders and styles in effect.
  ///   - commonAccept: the `Accept` field for endpoints that request JSON or no particular media type.
  /// - Throws: ``CallFault`` with `invalidRequest` or `encoding`.
  // A method of the box, because a method of the description would be called on a copy.
  func message(at base: BaseURL.Parts, coding: CodingOptions, commonAccept: HTTPFields? = nil) throws -> RequestMessage
  {
    if let failure = description.failure { throw failure }
    if let reason = description.path.fault {
      if description.path.isNamed { throw TransportError.namedURL(reason) }
      throw CallFault(.invalidRequest, reason)
    }
    let origin = description.path.origin
    var head = HTTPRequest(
      method: description.method, scheme: (origin ?? base.origin).scheme,
      authority: origin?.authority ?? base.authority,
      path: try target(at: base, style: coding),
      headerFields: (description.accept.isOpen ? commonAccept : nil)
        ?? FieldRules.accept(description.accept.mediaType(in: coding)))
    let content = try Self.encoding { try description.content.encode(coding) }
    if !content.isEmpty, let type = description.content.mediaType {
      head.headerFields.append(try FieldRules.field(RawField("Content-Type", type.description)))
    }
    if let fields = description.content.fields, !content.isEmpty {
      for field in try Self.encoding({ try fields(content) }) { head.headerFields.append(try FieldRules.field(field)) }
    }
    for field in description.fields {
      let checked = try FieldRules.field(field)
      if checked.name == .contentType { try checkBoundary(in: checked.value) }
      head.headerFields[fields: checked.name] = [checked]
    }
    return RequestMessage(head: head, content: content)
  }

  /// Throws if a field of the endpoint would replace the boundary of multipart content, without which no server can
  /// read it.
  private func checkBoundary(in value: String) throws {
    guard let boundary = description.content.mediaType?.parameter("boundary"),
      MediaType(value).parameter("boundary") != boundary
    else { return }
    throw CallFault(
      .invalidRequest, "the field Content-Type replaces the boundary of the multipart content; remove the field")
  }

  /// Returns the request target: base path, path, base query and query. A complete URL ignores the base URL.
  private func target(at base: BaseURL.Parts, style coding: CodingOptions) throws -> String {
    let path = description.path
    let isURL = path.origin != nil
    var target = isURL ? "" : base.path
    target.reserveCapacity(target.utf8.count + path.encoded.utf8.count + 1)
    if path.encoded.utf8.first != UInt8(ascii: "/"), !path.encoded.isEmpty { target += "/" }
    target += path.encoded
    if target.isEmpty { target = "/" }
    var separator = "?"
    for part in [isURL ? nil : base.query, path.query] {
      guard let part, !part.isEmpty else { continue }
      target += separator + part
      separator = "&"
    }
    guard !description.query.isEmpty else { return target }
    try Self.encoding {
      try QueryText.append(description.query, style: coding.effectiveQuery, after: separator, to: &target)
    }
    return target
  }

  /// Converts the errors of coders to ``CallFault``.
  private static func encoding<Result>(_ encode: () throws -> Result) throws -> Result {
    do {
      return try encode()
    } catch {
      throw CallFault(encoding: error)
    }
  }
}

extension CallFault {
  /// Creates a fault for a value that a coder could not encode.
  init(encoding error: any Error) {
    let failure = DecodingFailure(error)
    self.init(.encoding, failure.detail, codingPath: failure.codingPath, underlying: error)
  }
}
