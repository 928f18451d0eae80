#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a server said when it refused a call.
public struct Rejection: Sendable {
  /// The status of the answer; a refusal in an envelope may come with 200.
  public let status: Int
  /// The server's own sentence, when it gave one that could be found.
  public let message: String?
  /// The server's own code, when it gave one.
  public let code: String?
  /// The problem, for `application/problem+json` (RFC 9457).
  public let problem: Problem?
  /// The value of the endpoint's own type, see ``Endpoint/rejecting(as:)``.
  public let value: (any Sendable)?

  /// Whether the server gave a reason that could be read.
  public var isReported: Bool { message != nil || code != nil || problem != nil || value != nil }
}

extension Rejection {
  /// The most bytes of a refusal that are looked into.
  private static let readLimit = 1 << 20

  /// Reads a refused answer. Never fails: what cannot be read leaves the status and the bytes.
  init(_ content: Content, decoder: (@Sendable (Content) -> (any Sendable)?)?) {
    status = content.status
    value = decoder?(content)
    guard content.data.count <= Self.readLimit, Self.mayBeJSON(content),
      let json = try? JSONCoding.standard.decoder.decode(JSONValue.self, from: content.data)
    else {
      (message, code, problem) = (nil, nil, nil)
      return
    }
    problem =
      content.mediaType?.essence == MediaType.problem.essence
      ? try? JSONCoding.standard.decoder.decode(Problem.self, from: content.data) : nil
    message = Self.message(in: json)
    code = Self.code(in: json)
  }

  init(_ envelope: EnvelopeRejection, _ content: Content, decoder: (@Sendable (Content) -> (any Sendable)?)?) {
    status = content.status
    message = envelope.message
    code = envelope.code
    problem = nil
    value = decoder?(content)
  }

  private static func mayBeJSON(_ content: Content) -> Bool {
    content.mediaType?.isJSON ?? (content.data.first == UInt8(ascii: "{"))
  }

  /// The sentence under the names that servers use for it.
  private static func message(in json: JSONValue) -> String? {
    for key in ["detail", "message", "error_description", "status_message", "title", "error"] {
      if let text = json[key]?.sentence { return text }
    }
    if let nested = json["error"] { return message(in: nested) }
    guard let first = json["errors"]?.first else { return nil }
    return first.sentence ?? message(in: first)
  }

  private static func code(in json: JSONValue) -> String? {
    for key in ["code", "error_code", "status_code"] {
      if let text = json[key]?.string { return text }
      if let number = json[key]?.number { return Int(exactly: number).map { String($0) } ?? String(number) }
    }
    if json["error_description"] != nil { return json["error"]?.string }
    guard let nested = json["error"] ?? json["errors"]?.first, nested.string == nil else { return nil }
    return code(in: nested)
  }
}

extension JSONValue {
  /// The first value of an array.
  fileprivate var first: JSONValue? {
    if case .array(let values) = self { return values.first }
    return nil
  }

  /// The text, or the first of several: some servers give a list of sentences.
  fileprivate var sentence: String? {
    (first ?? self).string.flatMap { $0.isEmpty ? nil : $0 }
  }
}
