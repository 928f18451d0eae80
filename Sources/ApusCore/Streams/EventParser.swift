#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A parser of event streams (WHATWG HTML §9.2.6). Pure.
struct EventParser {
  /// The maximum sizes, in bytes.
  struct Limits: Hashable {
    var line = 1 << 20
    var event = 8 << 20
  }

  private var lines: LineSplitter
  private var draft: EventDraft
  private var events = ItemQueue<ServerSentEvent>()

  /// Creates a parser.
  ///
  /// - Parameter lastEventID: the last event ID of the stream's earlier responses. Default: empty.
  init(lastEventID: String = "", limits: Limits = Limits()) {
    lines = LineSplitter(.any, limit: limits.line)
    draft = EventDraft(lastEventID: lastEventID, limit: limits.event)
  }

  /// The position in the stream once ``next()`` has returned `nil`.
  var position: StreamPosition {
    StreamPosition(lastEventID: draft.lastEventID, reconnectionTime: draft.reconnectionTime)
  }

  /// Adds a piece. Call it only when ``next()`` has returned `nil`.
  mutating func feed(_ piece: Data) {
    lines.feed(piece)
  }

  /// Returns the next event, or `nil` if another piece is needed. An event at the end of the content that no blank line
  /// follows is never returned.
  ///
  /// - Throws: ``ElementTooLong``, after the events before the error.
  mutating func next() throws -> ServerSentEvent? {
    while true {
      if let event = try events.next() { return event }
      let hasMore = events.fill { events in
        try lines.nextBlock { line in
          if try draft.take(line), let event = draft.dispatch() { events.append(event) }
        }
      }
      if hasMore == false { return nil }
    }
  }
}

/// The event that is being parsed, and the state of the stream that is kept from one event to the next.
private struct EventDraft {
  private(set) var lastEventID: String
  private(set) var reconnectionTime: Duration?
  private let limit: Int
  private var data: Data?
  private var name = Self.standardName
  /// The last event ID from the next dispatch on. It persists across events and reconnections, as in browsers. If each
  /// event started with an empty ID, as in the text of the standard, an event without an ID would lose the position in
  /// the stream.
  private var nextEventID: String
  private var isAtStart = true

  private static let standardName = "message"

  init(lastEventID: String, limit: Int) {
    (self.lastEventID, nextEventID, self.limit) = (lastEventID, lastEventID, limit)
  }

  /// Handles a line. Returns whether it is blank.
  mutating func take(_ line: UnsafeRawBufferPointer) throws -> Bool {
    var line = line
    if isAtStart {
      isAtStart = false
      if line.starts(with: ByteOrderMark.utf8) { line = line.part(3..<line.count) }
    }
    guard !line.isEmpty else { return true }
    guard let (name, length) = FieldName.parse(line) else { return false }
    var start = min(length + 1, line.count)
    if start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
    try take(name, line.part(start..<line.count))
    return false
  }

  private mutating func take(_ name: FieldName, _ value: UnsafeRawBufferPointer) throws {
    switch name {
    case .data: try append(value)
    case .event: self.name = value.isEmpty ? Self.standardName : text(value, unless: self.name)
    case .id: if Self.canBeSent(value) { nextEventID = text(value, unless: nextEventID) }
    case .retry: if let time = Self.time(value) { reconnectionTime = time }
    }
  }

  /// The maximum length of an event ID in bytes.
  private static let idLimit = 4 << 10

  /// Whether an event ID can be sent in a field to continue the stream (RFC 9110 §5.5). Any other ID is ignored, as the
  /// standard requires for an ID with NUL, because it would fail the next reconnection.
  private static func canBeSent(_ value: UnsafeRawBufferPointer) -> Bool {
    value.count <= idLimit && value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
  }

  private mutating func append(_ value: UnsafeRawBufferPointer) throws {
    guard (data?.count ?? -1) + 1 + value.count <= limit else {
      throw ElementTooLong(element: "an event", limit: limit)
    }
    // Appended in place, so that the lines of an event are copied once.
    if data == nil {
      data = Data(copying: value)
    } else {
      data?.append(ByteSearch.lineFeed)
      data?.append(contentsOf: value)
    }
  }

  /// Ends the event. Returns the event if it has data.
  mutating func dispatch() -> ServerSentEvent? {
    lastEventID = nextEventID
    defer { (data, name) = (nil, Self.standardName) }
    return data.map { ServerSentEvent(name: name, data: $0, id: lastEventID) }
  }

  /// Returns a value as text. If the text equals `known`, returns `known` instead of creating a string.
  private func text(_ value: UnsafeRawBufferPointer, unless known: String) -> String {
    known.utf8.elementsEqual(value) ? known : String(decoding: value, as: UTF8.self)
  }

  /// Returns a number of milliseconds, or `nil` if the value has characters other than digits. Numbers that are too
  /// large are clamped.
  private static func time(_ value: UnsafeRawBufferPointer) -> Duration? {
    guard !value.isEmpty else { return nil }
    var milliseconds: Int64 = 0
    for byte in value {
      guard byte.isDigit else { return nil }
      milliseconds = min(milliseconds * 10 + Int64(byte - UInt8(ascii: "0")), 1 << 50)
    }
    return .milliseconds(milliseconds)
  }
}

/// The fields of an event stream. Unknown fields and comments, whose name is empty, are ignored.
private enum FieldName {
  case data, event, id, retry

  /// Returns the field at the start of a line and the length of its name, up to a colon or the end of the line.
  static func parse(_ line: UnsafeRawBufferPointer) -> (FieldName, length: Int)? {
    var (name, length) = (packedStart, 0)
    while length < line.count, line[length] != UInt8(ascii: ":") {
      guard length < 5 else { return nil }
      name = name << 8 | UInt64(line[length])
      length += 1
    }
    switch name {
    case packed("data"): return (.data, length)
    case packed("event"): return (.event, length)
    case packed("id"): return (.id, length)
    case packed("retry"): return (.retry, length)
    default: return nil
    }
  }

  /// Not zero, so that a leading NUL changes the packed number.
  private static let packedStart: UInt64 = 1

  private static func packed(_ name: StaticString) -> UInt64 {
    name.withUTF8Buffer { $0.reduce(packedStart) { $0 << 8 | UInt64($1) } }
  }
}

/// The byte order mark.
enum ByteOrderMark {
  /// The byte order mark in UTF-8.
  static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
}

extension Data {
  /// Copies bytes in one step.
  init(copying bytes: UnsafeRawBufferPointer) {
    self = bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
  }
}
