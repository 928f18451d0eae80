/// The elements of a stream, returned while they arrive.
///
/// ```swift
/// let users: LiveStream<User> = api.stream(Request<JSONStream<User>>.get("/users/export"))
/// for try await user in users { print(user.name) }
/// ```
///
/// Each loop makes a call of its own, which begins when the loop requests the first element. The loop reads the
/// response at its own pace: the next piece is read after the loop has consumed all elements of the previous piece.
/// Leaving the loop ends the call and discards the rest of the response. Cancelling the task, or the call by its id or
/// tag, ends the loop with a ``CallError`` with the code `cancelled`.
///
/// An event stream reconnects with the last event ID when its response ends or is interrupted, with a new call each
/// time; see ``StreamOptions`` and ``EventStream``. Other streams end with their response.
public struct LiveStream<Element: Sendable>: AsyncSequence, Sendable {
  private enum Origin: Sendable {
    case calls(StreamSource<Element>)
    case elements([Element], CallError?)
  }

  private let origin: Origin

  init(_ source: StreamSource<Element>) {
    origin = .calls(source)
  }

  /// Creates a stream without a call, for fakes and previews.
  ///
  /// - Parameters:
  ///   - elements: the elements, which are returned without a wait.
  ///   - error: the error after the last element. Default: `nil`, the stream ends.
  public init(elements: [Element], error: CallError? = nil) {
    origin = .elements(elements, error)
  }

  /// Returns an iterator. Nothing is sent before the first element is requested.
  public func makeAsyncIterator() -> Iterator {
    switch origin {
    case .calls(let source): Iterator(source: .reader(StreamReader(source)))
    case .elements(let elements, let error): Iterator(source: .elements(elements[...], error))
    }
  }

  /// An iterator over the elements. The call ends when the iterator is released.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate enum Source {
      // A class, so that releasing the last copy of the iterator ends the call.
      case reader(StreamReader<Element>)
      case elements(ArraySlice<Element>, CallError?)
    }

    fileprivate var source: Source

    /// Waits for the next element. Runs on the caller's actor.
    ///
    /// - Returns: the element, or `nil` at the end of the stream and after an error.
    /// - Throws: ``CallError``, with the trace of the call in whose response it happened.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(CallError) -> Element? {
      switch source {
      case .reader(let reader): return try await reader.next()
      case .elements(var elements, let error):
        if let element = elements.popFirst() {
          source = .elements(elements, error)
          return element
        }
        source = .elements([], nil)
        if let error { throw error }
        return nil
      }
    }
  }
}

extension Client {
  /// Returns the elements of an endpoint's response while they arrive.
  ///
  /// - Parameter endpoint: an endpoint whose value is an ``EventStream``, ``JSONStream``, ``LineStream`` or
  ///   ``PartStream``.
  /// - Returns: a sequence. Nothing is sent before a loop requests the first element.
  public func stream<E: Endpoint>(_ endpoint: E) -> LiveStream<E.Value.Element> where E.Value: StreamedValue {
    let (request, format) = (endpoint.resolvedRequest, E.Value._format)
    return LiveStream(
      StreamSource(
        client: self, request: request.box, kind: format.kind, options: request.streamOptions, parser: format.parser))
  }
}

/// The description of a stream, from which each loop starts.
struct StreamSource<Element: Sendable>: Sendable {
  let client: Client
  let request: RequestBox
  let kind: StreamKind
  let options: StreamOptions
  let parser: @Sendable (StreamContext) throws -> any ElementParser<Element>

  /// Returns the request of one connection.
  func request(lastEventID: String, of principal: CommonPrincipal) -> RequestBox {
    var description = request.description
    description.options.values[CommonPrincipalKey.self] = principal
    setStall(&description.options.values)
    if kind == .events {
      Self.setLastEventID(lastEventID, &description.fields)
      // A cached stream would repeat old events (WHATWG HTML: the cache mode is `no-store`).
      let isSet = description.fields.contains { $0.name.lowercased() == "cache-control" }
      if !isSet { description.fields.append(RawField("Cache-Control", "no-cache")) }
    }
    return RequestBox(description)
  }

  /// Disables the transport's stall limit, or sets it to twice the stream's silence timeout, so that ``SilenceTimer``
  /// expires first.
  private func setStall(_ values: inout ContextValues) {
    guard kind == .events || options.silenceTimeout != nil, values[ExchangeTimeouts.self].stall == nil else { return }
    values[ExchangeTimeouts.self].stall = options.silenceTimeout.map { $0.bounded * 2 } ?? .endless
  }

  /// Sets the field. Without a last event ID, the endpoint's own field remains.
  private static func setLastEventID(_ id: String, _ fields: inout [RawField]) {
    // White space at the ends is not part of a field's value (RFC 9110 §5.5).
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    var value = Substring(id).utf8.drop(while: isSpace)
    while let last = value.last, isSpace(last) { value.removeLast() }
    if !value.isEmpty { fields.replace(with: RawField("Last-Event-ID", String(Substring(value)))) }
  }
}

extension RequestBox {
  /// Whether the request may be sent again after a response: its endpoint is declared idempotent or, without such a
  /// declaration, its method is safe.
  var isRepeatable: Bool { description.options.values[IdempotenceKey.self] ?? description.method.isSafe }
}
