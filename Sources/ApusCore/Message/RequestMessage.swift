public import HTTPTypes

/// A complete, validated request as it is sent: head and content (body).
///
/// The client creates it from a ``Request`` and passes it through the middlewares to the transport.
public struct RequestMessage: Sendable {
  /// The method, scheme, authority, request target and fields (headers) (RFC 9110 §6.2, §6.3).
  public var head: HTTPRequest
  /// The content to send.
  public var content: MessageContent

  /// Creates a message without checking it.
  public init(head: HTTPRequest, content: MessageContent = .empty) {
    self.head = head
    self.content = content
  }

  /// The path and query as they are sent, for example `/users/7?fields=name`.
  public var target: String {
    get { head.path ?? "/" }
    set { head.path = newValue }
  }

  /// The scheme, host and port of the server, or `nil` if the head has no valid authority.
  public var origin: Origin? {
    guard let scheme = head.scheme, let authority = head.authority else { return nil }
    return Origin(scheme: scheme, authority: authority)
  }

  /// The complete URL with its query. Do not log it: it may contain secrets.
  public var url: String {
    "\(head.scheme ?? "")://\(head.authority ?? "")\(target)"
  }
}

extension RequestMessage {
  /// Checks a field and adds it, unless the message already has a field with that name.
  ///
  /// - Parameter field: the field to add.
  /// - Returns: whether the field was added.
  /// - Throws: an error that makes the call fail with `invalidRequest` if the field cannot be sent.
  @discardableResult
  public mutating func addField(_ field: RawField) throws -> Bool {
    let checked = try FieldRules.field(field)
    guard head.headerFields[checked.name] == nil else { return false }
    head.headerFields.append(checked)
    return true
  }

  /// Adds query parameters to the target, except those whose name the target already has.
  ///
  /// - Returns: whether a parameter was added.
  /// - Throws: an error that makes the call fail with `encoding` if a value cannot be written.
  @discardableResult
  public mutating func addQuery(_ query: Query, style: QueryStyle = QueryStyle()) throws -> Bool {
    let (path, present) = splitTarget
    let names = Set(present.utf8.split(separator: UInt8(ascii: "&")).map { Self.name(of: $0) })
    let items = try Self.items(of: query, style: style).filter { !names.contains($0.name) }
    guard !items.isEmpty else { return false }
    target = path + "?" + present + (present.isEmpty ? "" : "&") + QueryText.query(items)
    return true
  }

  private static func items(of query: Query, style: QueryStyle) throws -> [(name: String, value: String)] {
    do {
      return try query.items(style: style)
    } catch {
      throw CallFault(encoding: error)
    }
  }

  /// The path, and the query without `?`.
  private var splitTarget: (path: String, query: Substring) {
    let target = target
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (target, "") }
    return (String(target[..<mark]), target[target.utf8.index(after: mark)...])
  }

  private static func name(of item: Substring.UTF8View) -> String {
    let name = item.prefix { $0 != UInt8(ascii: "=") }
    return PercentEncoding.decode(String(decoding: name.map { $0 == plus ? space : $0 }, as: UTF8.self))
  }

  private static let plus = UInt8(ascii: "+")
  private static let space = UInt8(ascii: " ")
}

extension HTTPRequest.Method {
  /// Whether the method is safe, that is, read-only (RFC 9110 §9.2.1, RFC 10008 §2): GET, HEAD, OPTIONS, TRACE and
  /// QUERY.
  package var isSafe: Bool {
    // Told apart by their length first, which costs less than comparisons of text.
    switch rawValue.utf8.count {
    case 3: self == .get
    case 4: self == .head
    case 5: self == .trace || rawValue == "QUERY"
    case 7: self == .options
    default: false
    }
  }

  /// Whether the method is idempotent (RFC 9110 §9.2.2, RFC 10008): the safe methods, PUT and DELETE.
  package var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }
}
