/// The value of an endpoint whose response is a stream of elements.
///
/// A client's `stream` returns the elements while they arrive; `send` collects the whole response. The conforming types
/// are ``EventStream``, ``JSONStream``, ``LineStream`` and ``PartStream``.
public protocol StreamedValue<Element>: Sendable {
  /// The type of an element.
  associatedtype Element: Sendable
  /// The elements of a complete response, in order.
  var elements: [Element] { get }
  /// Creates a value from its elements, also for fakes.
  init(_ elements: [Element])
  /// The format of the content (body).
  static var _format: _StreamFormat<Self> { get }
}

/// The format of a stream: the accepted media types and the parser.
public struct _StreamFormat<Value: StreamedValue>: Sendable {
  typealias MakeParser = @Sendable (StreamContext) throws -> any ElementParser<Value.Element>

  let kind: StreamKind
  let accept: MediaType?
  let parser: MakeParser

  init(kind: StreamKind, accept: MediaType?, parser: @escaping MakeParser) {
    (self.kind, self.accept) = (kind, accept)
    self.parser = { context in
      try context.requireDecoded()
      return try parser(context)
    }
  }

  /// Returns a mapping that parses complete content.
  func mapping(_ options: StreamOptions) -> ResponseMapping<Value> {
    let parser = parser
    return ResponseMapping(accept: accept) { content in
      var parser = try parser(StreamContext(content, options))
      if !content.data.isEmpty { parser.feed(content.data) }
      var elements: [Value.Element] = []
      while let element = try parser.next() { elements.append(element) }
      guard !parser.isOver else { return Value(elements) }
      parser.finish()
      while let element = try parser.next() { elements.append(element) }
      return Value(elements)
    }
  }
}

/// Server-sent events (WHATWG HTML): `text/event-stream`.
///
/// The elements of `EventStream<ServerSentEvent>` are the events themselves. `Data` and `String` get the data of each
/// event, and any other type is decoded from the data as JSON.
///
/// <!-- sample: event-stream -->
/// ```swift
/// extension Endpoint where Self == Request<EventStream<Movie>> {
///   static var premieres: Self { .get("/premieres") }
/// }
/// for try await movie in api.stream(.premieres) { print(movie.title) }
/// ```
///
/// A live stream reconnects when its response ends, is interrupted or is silent for too long:
///
/// - It sends the last event ID in `Last-Event-ID`. 204 ends the stream.
/// - It waits for a random time of up to 3 seconds, or at least for the time that the server has set with `retry`. The
///   bound doubles to at most 30 seconds while connections fail or end early, and is reset by a connection that lasts a
///   minute.
/// - The errors of the first connection are thrown, and so are later errors that are not temporary: 401, 403, 404, 410,
///   a response of another media type, content that cannot be decoded.
/// - Without a last event ID, only safe requests (GET, QUERY) and endpoints declared idempotent reconnect. Any other
///   stream ends with its response and throws if the response is interrupted.
public struct EventStream<Element: Decodable & Sendable>: StreamedValue {
  /// The elements of a complete response, in order.
  public let elements: [Element]

  /// Creates a value from its elements, for fakes.
  public init(_ elements: [Element]) {
    self.elements = elements
  }

  /// Server-sent events.
  public static var _format: _StreamFormat<EventStream> {
    _StreamFormat(kind: .events, accept: .eventStream) { try EventElements($0) }
  }
}

/// JSON texts: lines (NDJSON, JSON Lines), or `application/json-seq` (RFC 7464) if the response has that media type.
///
/// Blank lines are skipped.
public struct JSONStream<Element: Decodable & Sendable>: StreamedValue {
  /// The elements of a complete response, in order.
  public let elements: [Element]

  /// Creates a value from its elements, for fakes.
  public init(_ elements: [Element]) {
    self.elements = elements
  }

  /// JSON texts.
  public static var _format: _StreamFormat<JSONStream> {
    _StreamFormat(kind: .json, accept: "application/x-ndjson, application/jsonl, application/json-seq") { context in
      if context.isJSONSequence { return JSONSequenceElements<Element>(context) }
      return JSONLineElements<Element>(context)
    }
  }
}

/// Lines of UTF-8 text, which end with LF, CR or CRLF. The response may have any media type.
///
/// A byte order mark is removed, and invalid UTF-8 becomes U+FFFD. The last line may lack its end.
public struct LineStream: StreamedValue {
  /// The lines of a complete response, in order.
  public let elements: [String]

  /// Creates a value from its lines, for fakes.
  public init(_ elements: [String]) {
    self.elements = elements
  }

  /// Lines.
  public static var _format: _StreamFormat<LineStream> {
    _StreamFormat(kind: .lines, accept: nil) { LineElements($0) }
  }
}

extension MediaType {
  /// `text/event-stream` (WHATWG HTML)
  public static let eventStream: MediaType = "text/event-stream"
}
