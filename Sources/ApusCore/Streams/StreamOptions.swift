/// The options of a live stream, see ``Endpoint/streaming(_:)``.
public struct StreamOptions: Sendable {
  /// Whether an event stream is reconnected when its response ends or is interrupted. Default: `true`. Other streams
  /// are never reconnected.
  public var reconnects = true
  /// The last event ID of the first request of an event stream, in the field (header) `Last-Event-ID`. Default: `nil`,
  /// no field.
  public var lastEventID: String?
  /// The data of the event or line that ends the stream, for example `[DONE]`. It is not an element. Default: `nil`.
  public var endMarker: String?
  /// The maximum time without a byte while the app waits for an element. A comment counts as bytes.
  ///
  /// When this time has passed, an event stream reconnects if it may be reconnected. Any other stream fails with the
  /// code `timeout`. Default: 90 seconds for event streams, otherwise `nil`. `nil` sets no limit. The transport's stall
  /// limit (``ExchangeTimeouts/stall``) then remains for other streams, and is disabled as well for event streams.
  public var silenceTimeout: Duration?
  /// The maximum number of bytes of an element. A stream with a larger element fails with the code `contentTooLarge`.
  ///
  /// Default: `nil`, which means 1 MiB for a line and 8 MiB for an event, a JSON text or a part.
  public var maximumElementSize: Int?
  /// A handler for elements that cannot be decoded. With a handler, the stream skips such an element instead of
  /// failing. The handler is called on any thread, possibly before the loop has received earlier elements. Default:
  /// `nil`, the stream fails with the code `decoding`.
  public var onUndecodable: (@Sendable (UndecodableElement) -> Void)?

  /// The default limit of a line of text, in bytes.
  static let lineLimit = 1 << 20
  /// The default limit of a JSON text, in bytes.
  static let jsonLimit = 8 << 20

  init(for kind: StreamKind) {
    silenceTimeout = kind == .events ? .seconds(90) : nil
  }
}

/// The kinds of streams.
enum StreamKind: Sendable, Hashable {
  case events
  case json
  case lines
  case parts
}

/// The options of a call's stream. Default: `nil`, the default options for the kind of stream.
enum StreamOptionsKey: ContextKey {
  static let defaultValue: StreamOptions? = nil
  // A streamed call is never coalesced, and `send` decodes for each call.
  static let affectsCoalescing = false
}

extension Endpoint where Value: StreamedValue {
  /// Changes the options of the stream, for example its last event ID or its limits.
  ///
  /// The options also apply to `send`. This modifier replaces the mapping of the request.
  ///
  /// <!-- sample: streaming -->
  /// ```swift
  /// extension Endpoint where Self == Request<EventStream<Movie>> {
  ///   static var premieres: Self { .get("/premieres") }
  /// }
  /// let premieres = api.stream(.premieres.streaming { $0.silenceTimeout = .seconds(30) })
  /// ```
  public func streaming(_ change: (inout StreamOptions) -> Void) -> Request<Value> {
    modified { request in
      var options = request.streamOptions
      change(&options)
      request.options.values[StreamOptionsKey.self] = options
      request.mapping = Value._format.mapping(options)
    }
  }
}

extension Request where Value: StreamedValue {
  /// The options in effect.
  var streamOptions: StreamOptions {
    options.values[StreamOptionsKey.self] ?? StreamOptions(for: Value._format.kind)
  }
}
