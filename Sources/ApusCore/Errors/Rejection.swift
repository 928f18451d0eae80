public import ApusJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a server said when it rejected a call.
///
/// Read from RFC 9457 problems, OAuth errors and the formats of common frameworks and services: FastAPI,
/// Django, Rails, Laravel, Spring, ASP.NET, NestJS, PocketBase, Matrix, GraphQL, JSON:API, Stripe, GitHub, Firebase and
/// others. A response with status 4xx in `text/plain` is read if it is one short sentence.
public struct Rejection: Sendable {
  /// What a server said about one field of a request.
  public struct FieldError: Sendable, Hashable {
    /// The path of the field, for example `items[0].name`.
    public let path: String
    /// The server's sentence, with the limits of ``Rejection/message``.
    public let message: String?
    /// The server's code.
    public let code: String?

    /// Makes the error of a field.
    public init(path: String, message: String? = nil, code: String? = nil) {
      (self.path, self.message, self.code) = (path, message, code)
    }
  }

  /// The status of the response; a rejection in an envelope may come with 200.
  public let status: Int
  /// The server's sentence for people, if it gave one; otherwise the first of ``fields`` as `path: message`.
  ///
  /// At most 300 characters on one line, without control, direction and other format characters. A machine code such as
  /// `invalid_token` is a ``code``, not a message.
  public let message: String?
  /// The server's code, if it gave one. A number that repeats the status counts only if there is no other code.
  public let code: String?
  /// What the server said about single fields, at most 100, in the order of the response, or by path if it has none.
  public let fields: [FieldError]
  /// The problem, for `application/problem+json` (RFC 9457).
  public let problem: Problem?
  /// The content as the endpoint's own type, see ``Endpoint/rejecting(as:)``.
  public let value: (any Sendable)?

  /// Whether the server gave a reason that could be read.
  public var isReported: Bool { message != nil || code != nil || !fields.isEmpty || problem != nil || value != nil }
}

extension Rejection {
  /// The most bytes of a rejection that are read.
  private static let limits = JSONLimits(bytes: 1 << 20)

  /// Reads a rejected response. Never fails: of what cannot be read, the status and the bytes remain.
  init(_ content: Content, decoder: (@Sendable (Content) -> (any Sendable)?)?) {
    status = content.status
    value = decoder?(content)
    guard Self.mayBeJSON(content), let json = try? JSONValue(parsing: content.data, limits: Self.limits) else {
      let text = Self.sentence(in: content)
      let isCode = text.map { ServerText.isCode($0) } ?? false
      (message, code, fields, problem) = (isCode ? nil : text, isCode ? text : nil, [], nil)
      return
    }
    let isProblem = content.mediaType?.essence == MediaType.problem.essence
    problem = isProblem ? json.object.map { Problem(members: $0) } : nil
    let reader = RejectionReader(json, status: content.status)
    (message, code, fields) = (reader.message, reader.code, reader.fields)
  }

  init(_ envelope: EnvelopeRejection, _ content: Content, decoder: (@Sendable (Content) -> (any Sendable)?)?) {
    status = content.status
    message = envelope.message
    code = envelope.code
    fields = []
    problem = nil
    value = decoder?(content)
  }

  private static func mayBeJSON(_ content: Content) -> Bool {
    content.mediaType?.isJSON ?? (content.data.first == UInt8(ascii: "{"))
  }

  /// Plain text, if it is a sentence. Text with 5xx comes from proxies rather than from the service.
  private static func sentence(in content: Content) -> String? {
    guard content.mediaType?.essence == "text/plain", (400..<500).contains(content.status), content.data.count <= 2000,
      let text = try? content.text(), let sentence = ServerText.sentence(text),
      !"<{[".utf8.contains(sentence.utf8.first ?? 0)
    else { return nil }
    let scalars = text.unicodeScalars
    guard scalars.count <= ServerText.limit,
      !scalars.contains(where: { $0.properties.generalCategory == .control && !$0.properties.isWhitespace }),
      !ServerText.statusNames.contains(sentence.lowercased())
    else { return nil }
    return sentence
  }
}

/// A machine-readable problem as servers report it (RFC 9457).
public struct Problem: Sendable, Hashable, Decodable {
  /// The problem's kind, a URI reference; `about:blank` when the server gives none (§3.1.1).
  public let type: String
  /// A short summary of the kind.
  public let title: String?
  /// The status that the server named; the status of the response takes precedence.
  public let status: Int?
  /// What went wrong this time.
  public let detail: String?
  /// Identifies this occurrence, a URI reference.
  public let instance: String?
  /// All other members.
  public let extensions: [String: JSONValue]

  /// Decodes a problem. Members of a wrong type are ignored, as §3.1 asks.
  public init(from decoder: any Decoder) throws {
    self.init(members: try [String: JSONValue](from: decoder))
  }

  init(members: [String: JSONValue]) {
    type = members["type"]?.string ?? "about:blank"
    title = members["title"]?.string
    status = members["status"]?.number?.int
    detail = members["detail"]?.string
    instance = members["instance"]?.string
    var extensions = members
    for name in ["type", "title", "status", "detail", "instance"] { extensions[name] = nil }
    self.extensions = extensions
  }

  /// Decodes a member that this kind of problem defines.
  public func member<Value: Decodable>(_ name: String, as type: Value.Type) -> Value? {
    guard let value = extensions[name] else { return nil }
    return try? JSONCoding.standard.decode(type, from: Data(value.utf8()))
  }
}
