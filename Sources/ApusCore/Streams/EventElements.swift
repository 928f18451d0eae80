#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The elements of an ``EventStream``.
struct EventElements<Element: Decodable & Sendable>: ElementParser {
  private var parser: EventParser
  /// The decoder that creates the elements from the data of the events. `nil` if the elements are the events
  /// themselves.
  private var decoder: ElementDecoder<Element>?
  private let context: StreamContext
  private let endMarker: Data?
  private(set) var isOver = false

  /// - Throws: ``RejectedResponse`` if the response is not an event stream.
  init(_ context: StreamContext) throws {
    // 204 ends an event stream permanently (WHATWG HTML §9.2.3).
    isOver = context.status == 204
    if !isOver { try Self.check(context) }
    let limit = context.options.maximumElementSize
    let limits = EventParser.Limits()
    parser = EventParser(
      lastEventID: context.options.lastEventID ?? "",
      limits: EventParser.Limits(line: limit ?? limits.line, event: limit ?? limits.event))
    decoder = Self.decoder(context)
    self.context = context
    endMarker = context.options.endMarker.map { Data($0.utf8) }
  }

  private static func check(_ context: StreamContext) throws {
    guard context.status == 200 else {
      throw context.failure("expected an event stream with status 200 or 204, got status \(context.status)")
    }
    guard context.mediaType?.essence == MediaType.eventStream.essence else {
      throw context.failure("expected \(MediaType.eventStream), got \(context.mediaType?.essence ?? "no media type")")
    }
  }

  private static func decoder(_ context: StreamContext) -> ElementDecoder<Element>? {
    if Element.self == ServerSentEvent.self { return nil }
    if Element.self == Data.self { return ElementDecoder(context) { try cast($0) } }
    if Element.self == String.self { return ElementDecoder(context) { try cast(String(decoding: $0, as: UTF8.self)) } }
    return ElementDecoder(json: context)
  }

  var position: StreamPosition { parser.position }

  mutating func feed(_ piece: Data) {
    parser.feed(piece)
  }

  // The end of the content discards an event that no blank line follows.
  mutating func finish() {}

  mutating func next() throws -> Element? {
    while !isOver, let event = try context.limiting({ try parser.next() }) {
      if event.data == endMarker {
        isOver = true
      } else if let element = try element(of: event) {
        return element
      }
    }
    return nil
  }

  private mutating func element(of event: ServerSentEvent) throws -> Element? {
    // Decoded in place, because a copy of the decoder would cost several retains for each event.
    decoder == nil ? try cast(event) : try decoder?.decode(event.data)
  }
}

/// Casts a value whose type is known.
private func cast<Source, Target>(_ value: Source) throws -> Target {
  guard let value = value as? Target else { throw CallFault(.decoding, "the value has another type") }
  return value
}
