/// Query parameters in order. Values may be of any encodable type.
///
/// <!-- sample: query as Request<[Movie]> -->
/// ```swift
/// .get("/movies", query: ["page": page, "genres": ["drama", "war"], "year": nil])
/// .get("/movies", query: Query(filter))     // an Encodable struct: one parameter for each property
/// ```
///
/// The ``QueryStyle`` in effect determines how arrays, nested values, Booleans, dates and `nil` are written.
public struct Query: Sendable, ExpressibleByDictionaryLiteral {
  enum Part: Sendable {
    case item(name: String, value: (any Encodable & Sendable)?)
    case members(of: any Encodable & Sendable)
  }

  var parts: [Part] = []

  /// Creates parameters from names and values. By default a parameter whose value is `nil` is omitted, see
  /// ``QueryStyle/Nils``.
  public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
    parts = elements.map { .item(name: $0.0, value: $0.1) }
  }

  /// Creates one parameter for each property of an encodable value.
  public init(_ value: some Encodable & Sendable) {
    parts = [.members(of: value)]
  }

  /// Appends a parameter.
  public mutating func append(_ name: String, _ value: (any Encodable & Sendable)?) {
    parts.append(.item(name: name, value: value))
  }

  /// Appends the parameters of another query.
  package mutating func append(_ other: Query) {
    parts += other.parts
  }

  /// Whether there are no parameters.
  public var isEmpty: Bool { parts.isEmpty }

  /// Returns the names and values as text, in order and not percent-encoded.
  ///
  /// - Throws: ``QueryEncodingError`` for a value that cannot be written.
  package func items(style: QueryStyle) throws -> [(name: String, value: String)] {
    try parts.flatMap { try $0.items(style: style) }
  }
}

extension Query.Part {
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
struct QueryEncodingError: Error, Hashable, CustomStringConvertible {
  /// The parameter's name with nested keys, for example `filter[year]`.
  let name: String
  /// The reason as a predicate, for example `is not a finite number`.
  let reason: String

  var description: String { "\(name.isEmpty ? "the value" : name) \(reason)" }
}
