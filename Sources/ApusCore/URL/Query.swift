/// Query parameters in order, with values of any encodable type.
///
/// <!-- sample: query as Request<[Movie]> -->
/// ```swift
/// .get("/movies", query: ["page": page, "genres": ["drama", "war"], "year": nil])
/// .get("/movies", query: Query(filter))     // an Encodable struct: one parameter a property
/// ```
///
/// How arrays, nested values, booleans, dates and `nil` are written is the ``QueryStyle`` in force.
public struct Query: Sendable, ExpressibleByDictionaryLiteral {
  enum Part: Sendable {
    case item(name: String, value: (any Encodable & Sendable)?)
    case members(of: any Encodable & Sendable)
  }

  var parts: [Part] = []

  /// Makes parameters of names and values; an absent value is written as the style says, by default not at all.
  public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
    parts = elements.map { .item(name: $0.0, value: $0.1) }
  }

  /// Makes one parameter for each property of an encodable value.
  public init(_ value: some Encodable & Sendable) {
    parts = [.members(of: value)]
  }

  /// Adds one parameter.
  public mutating func append(_ name: String, _ value: (any Encodable & Sendable)?) {
    parts.append(.item(name: name, value: value))
  }

  /// Adds the parameters of another query.
  public mutating func append(_ other: Query) {
    parts += other.parts
  }

  /// Whether there are no parameters.
  public var isEmpty: Bool { parts.isEmpty }

  /// The names and values as text, in order, not yet percent-encoded.
  ///
  /// - Throws: ``QueryEncodingError`` for a value that has no text, naming it.
  public func items(style: QueryStyle) throws -> [(name: String, value: String)] {
    try parts.flatMap { try $0.items(style: style) }
  }
}

extension Query.Part {
  /// The names and values of one part.
  func items(style: QueryStyle) throws -> [(name: String, value: String)] {
    var writer = QueryWriter(style: style)
    switch self {
    case .item(let name, let value): try writer.write(value, at: [QueryKey(name)])
    case .members(let value): try writer.write(value, at: [])
    }
    return writer.items
  }
}

/// A query or form value that cannot be written.
public struct QueryEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The parameter's name, nested keys included, for example `filter[year]`.
  public let name: String
  /// Why, as half a sentence.
  public let reason: String
  /// The name and the reason.
  public var description: String { "\(name.isEmpty ? "the value" : name) \(reason)" }
}
