public import ApusJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server's rejection of a call, with the reason that the server gave.
///
/// The reason is read from RFC 9457 problems, OAuth errors and the formats of common frameworks and services: FastAPI,
/// Django, Rails, Laravel, Spring, ASP.NET, NestJS, PocketBase, Matrix, GraphQL, JSON:API, Stripe, GitHub, Firebase and
/// others. `text/plain` with a 4xx status is read if it is one short sentence.
public struct Rejection: Sendable {
  /// A server's error for one field of a request.
  public struct FieldError: Sendable, Hashable {
    /// The path of the field, for example `items[0].name`.
    public let path: String
    /// The server's message, with the limits of ``Rejection/message``.
    public let message: String?
    /// The server's code.
    public let code: String?

    /// Creates a field error.
    public init(path: String, message: String? = nil, code: String? = nil) {
      (self.path, self.message, self.code) = (path, message, code)
    }
  }

  /// The status of the response. A rejection in an envelope may have the status 200.
  public let status: Int
  /// The server's message for people, otherwise the first of ``fields`` as `path: message`. `nil` if there is
  /// neither.
  ///
  /// At most 300 characters on one line, without control, direction and other format characters. A machine code such as
  /// `invalid_token` is a ``code``, not a message.
  public let message: String?
  /// The server's code, or `nil` if there is none. A number that repeats the status is used only if there is no other
  /// code.
  public let code: String?
  /// The errors of single fields, at most 100. Errors from a list are in the order of the response, errors from an
  /// object are sorted by path.
  public let fields: [FieldError]
  /// The problem document, if the content is `application/problem+json` (RFC 9457).
  public let problem: Problem?
  /// The content as the type declared by the endpoint, see ``Endpoint/rejecting(as:)``.
  package let value: (any Sendable)?

  /// Whether the rejection was read from an envelope, under the keys that the endpoint declares.
  var isEnveloped = false

  /// The message, if it is meant for people.
  var shownMessage: String? { isEnveloped || (400..<500).contains(status) ? message : nil }
}

extension Rejection {
  /// The maximum number of bytes that are parsed.
  private static let limits = JSONLimits(bytes: 1 << 20)

  /// Reads a rejected response. Never fails: if the content cannot be read, only the status is set.
  init(_ content: Content, decoder: (@Sendable (Content) -> (any Sendable)?)?) {
    status = content.status
    value = decoder?(content)
    guard content.undecoded?.isRegistered != true else {
      (message, code, fields, problem) = (nil, nil, [], nil)
      return
    }
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
    isEnveloped = true
  }

  private static func mayBeJSON(_ content: Content) -> Bool {
    content.mediaType?.isJSON ?? (content.data.first == UInt8(ascii: "{"))
  }

  /// Returns plain text if it is a sentence. Ignores text with a 5xx status, which usually comes from a proxy rather
  /// than from the service.
  private static func sentence(in content: Content) -> String? {
    guard content.mediaType?.essence == "text/plain", (400..<500).contains(content.status), content.data.count <= 2000,
      let text = try? content.text(), let sentence = ServerText.message(text),
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

/// A machine-readable problem document (RFC 9457).
public struct Problem: Sendable, Hashable, Decodable {
  /// The problem type, a URI reference. `about:blank` if the server gives none (§3.1.1).
  public let type: String
  /// A short summary of the problem type.
  public let title: String?
  /// The status in the document. The status of the response takes precedence.
  public let status: Int?
  /// An explanation of this occurrence.
  public let detail: String?
  /// A URI reference that identifies this occurrence.
  public let instance: String?
  /// All other members.
  public let extensions: [String: JSONValue]

  /// Decodes a problem. Members of a wrong type are ignored (§3.1).
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

  /// Decodes an extension member. Returns `nil` if it is missing or cannot be decoded.
  public func member<Value: Decodable>(_ name: String, as type: Value.Type) -> Value? {
    guard let value = extensions[name] else { return nil }
    return try? JSONCoding.default.decode(type, from: Data(value.utf8()))
  }
}
