public import HTTPTypes

/// What goes on the wire: a complete, validated head and its content.
///
/// Made from a ``Request`` by the client, passed through the middlewares, and sent by the transport.
public struct RequestMessage: Sendable {
  /// Method, scheme, authority, request target and fields (RFC 9110 §6.2, §6.3).
  public var head: HTTPRequest
  /// The content to send.
  public var content: MessageContent

  /// Makes a message of a head and its content, as they are.
  public init(head: HTTPRequest, content: MessageContent = .empty) {
    self.head = head
    self.content = content
  }

  /// Path and query as sent, for example `/users/7?fields=name`.
  public var target: String {
    get { head.path ?? "/" }
    set { head.path = newValue }
  }

  /// Scheme, host and port this message goes to; `nil` when the head names no valid authority.
  public var origin: Origin? {
    guard let scheme = head.scheme, let authority = head.authority else { return nil }
    return Origin(scheme: scheme, authority: authority)
  }

  /// The whole URL as text, query included. It may hold secrets: for sending, not for logs.
  public var url: String {
    "\(head.scheme ?? "")://\(head.authority ?? "")\(target)"
  }
}

extension RequestMessage {
  /// Adds a checked field unless the message has one of that name already.
  ///
  /// - Parameter field: name, value and whether it is sensitive.
  /// - Returns: whether it was added.
  /// - Throws: an error that makes the call fail with `invalidRequest`, for what cannot be sent.
  @discardableResult
  public mutating func addField(_ field: RawField) throws -> Bool {
    let checked = try FieldRules.field(field)
    guard head.headerFields[checked.name] == nil else { return false }
    head.headerFields.append(checked)
    return true
  }

  /// Adds query parameters to the target; those whose name it has already are left out.
  ///
  /// - Returns: whether any were added.
  /// - Throws: an error that makes the call fail with `encoding`, for values that cannot be written.
  @discardableResult
  public mutating func addQuery(_ query: Query, style: QueryStyle = .standard) throws -> Bool {
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

  /// The path, and the query without its question mark.
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
