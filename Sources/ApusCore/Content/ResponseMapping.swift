#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The mapping of an accepted response to a value: the media type to request and the function that reads the content.
public struct ResponseMapping<Value: Sendable>: Sendable {
  let accepted: AcceptedType
  /// The media type for the `Accept` field, or `nil` to accept any media type. A call with another
  /// ``CodingOptions/format`` requests that format instead of JSON.
  var accept: MediaType? { accepted.defaultMediaType }
  /// Reads the value from the complete content (body).
  package let read: @Sendable (Content) throws -> Value

  /// Creates a mapping from a function.
  ///
  /// - Parameters:
  ///   - accept: the media type for the `Accept` field. Default: `nil`, which accepts any media type.
  ///   - read: reads the value. Its errors become a ``CallError`` with the code `decoding`.
  public init(accept: MediaType? = nil, read: @escaping @Sendable (Content) throws -> Value) {
    self.init(AcceptedType(accept), read: read)
  }

  /// Converts the value of an expected rejection, and throws for other values. `nil` if all rejections are errors.
  private(set) var rejected: (@Sendable (any Sendable) throws -> Value)?

  private init(
    _ accepted: AcceptedType, rejected: (@Sendable (any Sendable) throws -> Value)? = nil,
    read: @escaping @Sendable (Content) throws -> Value
  ) {
    self.accepted = accepted
    self.rejected = rejected
    self.read = read
  }

  /// Returns a mapping that reads the content with a custom parser.
  public static func parsed<Parser: ContentParser>(by parser: Parser) -> ResponseMapping where Parser.Value == Value {
    ResponseMapping(accept: parser.accept, read: parser.parse)
  }

  /// Returns a mapping that depends on the status. An accepted status that is not listed is a decoding error.
  public static func byStatus(_ mappings: [Int: ResponseMapping<Value>]) -> ResponseMapping {
    // The smallest status determines `Accept`, so that equal mappings send equal requests.
    let accepted = mappings.min { $0.key < $1.key }?.value.accepted ?? .anything
    return ResponseMapping(accepted) { content in
      guard let mapping = mappings[content.status] else {
        throw CallFault(.decoding, "no mapping for a response with status \(content.status)")
      }
      return try mapping.read(content)
    }
  }

  /// Returns a mapping that ignores the content and returns a constant value.
  public static func constant(_ value: Value) -> ResponseMapping {
    ResponseMapping { _ in value }
  }

  /// Returns a mapping to an ``Outcome``, with rejections of a type as values.
  func outcome<Rejected: Sendable>(rejectedAs type: Rejected.Type) -> ResponseMapping<Outcome<Value, Rejected>> {
    let read = read
    return ResponseMapping<Outcome<Value, Rejected>>(
      accepted, rejected: { .rejected(try cast($0)) }, read: { .accepted(try read($0)) })
  }

  /// Returns a mapping that adds a note about the content to the value. A rejection has no note.
  func noting<Note: Sendable>(
    _ note: @escaping @Sendable (Content) -> Note?
  ) -> ResponseMapping<NotedValue<Value, Note>> {
    let read = read
    var noted = ResponseMapping<NotedValue<Value, Note>>(accepted) { content in
      NotedValue(value: try read(content), note: note(content))
    }
    if let rejected { noted.rejected = { NotedValue(value: try rejected($0)) } }
    return noted
  }

  /// A mapping for requests that fail before anything is sent.
  static var unavailable: ResponseMapping {
    ResponseMapping { _ in throw CallFault(.invalidRequest, "the endpoint could not make its request") }
  }
}

extension ResponseMapping where Value: Decodable {
  /// A mapping that decodes the content in the format in effect. `Data` and `String` get the bytes and the text, and
  /// ``Content`` gets the undecoded content.
  public static var decoded: ResponseMapping {
    if Value.self == Content.self, let undecoded = ResponseMapping<Content>.content as? ResponseMapping {
      return undecoded
    }
    if Value.self == Data.self { return ResponseMapping { try cast($0.data) } }
    if Value.self == String.self { return ResponseMapping { try cast($0.text()) } }
    return ResponseMapping(.format) { content in
      if content.data.isEmpty { return try absent() }
      if let envelope = content.coding.envelope { return try envelope.open(content) }
      return try content.decode(Value.self)
    }
  }

  /// Returns a mapping that decodes the part of a JSON response at a key path such as `data.items`.
  public static func decoded(at keyPath: String) -> ResponseMapping {
    let keys = keyPath.split(separator: ".").map(String.init)
    return ResponseMapping(accept: .json) { content in
      if content.data.isEmpty { return try absent() }
      return try content.coding.effectiveJSON.document(content.data).decode(Value.self, at: keys)
    }
  }

  /// Returns the value for a response without content: `nil` for optional types.
  private static func absent() throws -> Value {
    if let none = (Value.self as? any AbsentValue.Type)?.absent as? Value { return none }
    throw CallFault(.decoding, "the response has no content")
  }

  /// Returns a mapping that decodes the value in an envelope. An envelope without a success code is a rejection.
  public static func enveloped(_ envelope: EnvelopeFormat) -> ResponseMapping {
    ResponseMapping(accept: .json) { $0.data.isEmpty ? try absent() : try envelope.open($0) }
  }
}

extension ResponseMapping where Value == Void {
  /// A mapping that ignores the content, except for the code of the client's envelope.
  public static var empty: ResponseMapping {
    ResponseMapping { content in
      if let envelope = content.coding.envelope, !content.data.isEmpty { try envelope.check(content) }
    }
  }
}

extension ResponseMapping where Value == Content {
  /// A mapping that returns the undecoded content.
  public static var content: ResponseMapping {
    ResponseMapping { $0 }
  }
}

/// Types with a value for a response without content.
private protocol AbsentValue { static var absent: Self { get } }
extension Optional: AbsentValue { fileprivate static var absent: Wrapped? { nil } }

/// Casts a value whose type is known.
private func cast<Target>(_ value: Any) throws -> Target {
  guard let value = value as? Target else { throw CallFault(.decoding, "the value has another type") }
  return value
}

/// The accepted media type, before the format in effect is known.
enum AcceptedType: Sendable {
  case anything
  case type(MediaType)
  /// The media type of the format in effect, JSON by default.
  case format

  init(_ type: MediaType?) {
    self = type.map { .type($0) } ?? .anything
  }

  /// Whether the environment's own `Accept`, for example a vendor's JSON type, takes precedence.
  var isOpen: Bool {
    if case .type(let type) = self { return type == .json }
    return true
  }

  /// The media type to request if the call sets no format, or `nil` for any media type.
  var defaultMediaType: MediaType? { mediaType(in: CodingOptions()) }

  /// Returns the media type to request, or `nil` for any media type.
  func mediaType(in coding: CodingOptions) -> MediaType? {
    switch self {
    case .anything: nil
    case .type(let type): type
    case .format: coding.format?.mediaType ?? .json
    }
  }
}

/// A value, and a note about the content from which the value was read.
struct NotedValue<Value: Sendable, Note: Sendable>: Sendable {
  let value: Value
  var note: Note?
}

/// The value of an endpoint with expected rejections, for example a form with errors or a name that is taken.
public enum Outcome<Value: Sendable, Rejected: Sendable>: Sendable {
  /// The server accepted the call.
  case accepted(Value)
  /// The server rejected the call with this content.
  case rejected(Rejected)
}

/// The statuses that count as success. A call with any other status is rejected.
public struct StatusAcceptance: Sendable {
  private let accepts: @Sendable (Int) -> Bool

  /// Creates an acceptance from a predicate.
  public init(_ accepts: @escaping @Sendable (Int) -> Bool) {
    self.accepts = accepts
  }

  /// Whether a status is accepted.
  package func contains(_ status: Int) -> Bool { accepts(status) }

  /// 200 to 299 (RFC 9110 §15.3).
  public static let successful = StatusAcceptance { (200...299).contains($0) }
  /// Every status.
  public static let any = StatusAcceptance { _ in true }

  /// Accepts only the listed statuses.
  public static func statuses(_ statuses: Int...) -> StatusAcceptance {
    StatusAcceptance { statuses.contains($0) }
  }

  /// Accepts 200 to 299 and the listed statuses, for example 304 or 404.
  public static func successful(and statuses: Int...) -> StatusAcceptance {
    StatusAcceptance { (200...299).contains($0) || statuses.contains($0) }
  }
}
