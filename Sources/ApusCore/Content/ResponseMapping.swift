#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How an accepted answer becomes a value: what to ask for, and how to read it.
public struct ResponseMapping<Value: Sendable>: Sendable {
  /// What `Accept` asks for; `nil`: anything. Decoded values ask for the format in force instead of JSON.
  public var accept: MediaType? { accepted.mediaType(in: CodingOptions()) }
  let accepted: AcceptedType
  /// Makes the value of the complete content.
  public let read: @Sendable (Content) throws -> Value

  /// Makes a mapping of a function.
  public init(accept: MediaType? = nil, read: @escaping @Sendable (Content) throws -> Value) {
    self.init(AcceptedType(accept), read: read)
  }

  /// Makes the value of a rejection, of what the endpoint's own type decoded; `nil`: rejections are errors.
  let rejected: (@Sendable (any Sendable) -> Value?)?

  private init(
    _ accepted: AcceptedType, rejected: (@Sendable (any Sendable) -> Value?)? = nil,
    read: @escaping @Sendable (Content) throws -> Value
  ) {
    self.accepted = accepted
    self.rejected = rejected
    self.read = read
  }

  /// Reads by a parser of the app's own.
  public static func parsed<Parser: ContentParser>(by parser: Parser) -> ResponseMapping where Parser.Value == Value {
    ResponseMapping(accept: parser.accept, read: parser.parse)
  }

  /// Reads each status its own way; a status that is accepted but not listed is a decoding error.
  public static func byStatus(_ mappings: [Int: ResponseMapping<Value>]) -> ResponseMapping {
    // The smallest status decides, so that the same mapping always asks for the same.
    let accepted = mappings.min { $0.key < $1.key }?.value.accepted ?? .anything
    return ResponseMapping(accepted) { content in
      guard let mapping = mappings[content.status] else {
        throw CallFault(.decoding, "nothing says how to read an answer with status \(content.status)")
      }
      return try mapping.read(content)
    }
  }

  /// The same value whatever the content is.
  public static func constant(_ value: Value) -> ResponseMapping {
    ResponseMapping { _ in value }
  }

  /// The mapping to an ``Outcome``: a rejection of a type is a value, too.
  func outcome<Rejected: Sendable>(rejectedAs type: Rejected.Type) -> ResponseMapping<Outcome<Value, Rejected>> {
    let read = read
    return ResponseMapping<Outcome<Value, Rejected>>(
      accepted, rejected: { ($0 as? Rejected).map { .rejected($0) } }, read: { .accepted(try read($0)) })
  }

  /// For requests that fail before anything is sent.
  static var unavailable: ResponseMapping {
    ResponseMapping { _ in throw CallFault(.invalidRequest, "the endpoint could not be described") }
  }
}

extension ResponseMapping where Value: Decodable {
  /// Decodes the content in the format in force; `Data` and `String` get the bytes and the text as they are.
  public static var decoded: ResponseMapping {
    if Value.self == Data.self { return ResponseMapping { try cast($0.data) } }
    if Value.self == String.self { return ResponseMapping { try cast($0.text()) } }
    return ResponseMapping(.format) { content in
      if content.data.isEmpty { return try absent() }
      if let envelope = content.coding.envelope { return try envelope.open(content) }
      return try content.decode(Value.self)
    }
  }

  /// Decodes the part of a JSON answer at a path of keys such as `data.items`.
  public static func decoded(at keyPath: String) -> ResponseMapping {
    let keys = keyPath.split(separator: ".").map(String.init)
    return ResponseMapping(accept: .json) { content in
      if content.data.isEmpty { return try absent() }
      return try content.coding.effectiveJSON.decode(Value.self, from: content.data, at: keys)
    }
  }

  /// What an answer without content stands for: `nil` where that is a value.
  private static func absent() throws -> Value {
    if let none = (Value.self as? any AbsentValue.Type)?.absent as? Value { return none }
    throw CallFault(.decoding, "the answer has no content")
  }

  /// Decodes the value out of an envelope; an envelope that tells of a failure is a rejection.
  public static func enveloped(_ envelope: EnvelopeFormat) -> ResponseMapping {
    ResponseMapping(accept: .json) { $0.data.isEmpty ? try absent() : try envelope.open($0) }
  }
}

extension ResponseMapping where Value == Void {
  /// Ignores the content, unless the client's answers come in envelopes, which may tell of a failure.
  public static var empty: ResponseMapping {
    ResponseMapping { content in
      if let envelope = content.coding.envelope, !content.data.isEmpty { try envelope.check(content) }
    }
  }
}

extension ResponseMapping where Value == Content {
  /// The content as it is, to be read later.
  public static var content: ResponseMapping {
    ResponseMapping { $0 }
  }
}

/// Values that an answer without content stands for.
private protocol AbsentValue { static var absent: Self { get } }
extension Optional: AbsentValue { fileprivate static var absent: Wrapped? { nil } }

/// Gives a value the type it is known to have.
private func cast<Target>(_ value: Any) throws -> Target {
  guard let value = value as? Target else { throw CallFault(.decoding, "the value has another type") }
  return value
}

/// What `Accept` asks for, before the coders in force are known.
enum AcceptedType: Sendable {
  /// Anything.
  case anything
  /// This type.
  case type(MediaType)
  /// What the format in force reads, JSON when nobody chose one.
  case format

  init(_ type: MediaType?) {
    self = type.map { .type($0) } ?? .anything
  }

  /// Whether an environment that asks for a type of its own, such as a vendor's JSON, may do so here.
  var isOpen: Bool {
    if case .type(let type) = self { return type == .json }
    return true
  }

  /// The type to ask for under these coders; `nil`: anything.
  func mediaType(in coding: CodingOptions) -> MediaType? {
    switch self {
    case .anything: nil
    case .type(let type): type
    case .format: coding.format?.mediaType ?? .json
    }
  }
}

/// The value of an endpoint that expects rejections: a form with errors, a name that is taken.
public enum Outcome<Value: Sendable, Rejected: Sendable>: Sendable {
  /// The server accepted the call.
  case accepted(Value)
  /// The server rejected the call and said this.
  case rejected(Rejected)
}
