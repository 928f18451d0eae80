#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The elements of a ``LineStream``.
struct LineElements: ElementParser {
  private var lines: LineSplitter
  private var texts = ItemQueue<String>()
  private var isFinished = false
  private var isAtStart = true
  private let context: StreamContext
  private(set) var isOver = false

  init(_ context: StreamContext) {
    self.context = context
    lines = LineSplitter(.any, limit: context.options.maximumElementSize ?? StreamOptions.lineLimit)
  }

  mutating func feed(_ piece: Data) {
    lines.feed(piece)
  }

  mutating func finish() {
    isFinished = true
  }

  mutating func next() throws -> String? {
    guard !isOver, var line = try nextLine() else { return nil }
    if isAtStart, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
    isAtStart = false
    isOver = line == context.options.endMarker
    return isOver ? nil : line
  }

  private mutating func nextLine() throws -> String? {
    while true {
      if let line = try context.limiting({ try texts.next() }) { return line }
      let hasMore = texts.fill { texts in
        let take = { (line: UnsafeRawBufferPointer) in texts.append(String(decoding: line, as: UTF8.self)) }
        if try lines.nextBlock(take) { return true }
        guard isFinished else { return false }
        lines.rest(take)
        return !texts.isEmpty
      }
      if hasMore == false { return nil }
    }
  }
}

/// The elements of a ``JSONStream`` in lines: NDJSON, JSON Lines.
struct JSONLineElements<Element: Decodable & Sendable>: ElementParser {
  private var lines: JSONLines
  private var texts = ItemQueue<Data>()
  private var decoder: ElementDecoder<Element>
  private var isFinished = false
  private let context: StreamContext
  private let endMarker: Data?
  private(set) var isOver = false

  init(_ context: StreamContext) {
    self.context = context
    lines = JSONLines(limit: context.options.maximumElementSize ?? StreamOptions.jsonLimit)
    decoder = ElementDecoder(json: context)
    endMarker = context.options.endMarker.map { Data($0.utf8) }
  }

  mutating func feed(_ piece: Data) {
    lines.feed(piece)
  }

  mutating func finish() {
    isFinished = true
  }

  mutating func next() throws -> Element? {
    while !isOver {
      if let text = try context.limiting({ try texts.next() }) {
        isOver = text == endMarker
        if !isOver, let element = try decoder.decode(text) { return element }
      } else if texts.fill({ try lines.appendNextBlock(to: &$0) }) == false {
        return isFinished ? try last() : nil
      }
    }
    return nil
  }

  /// Returns the last element, from a line without a line feed.
  private mutating func last() throws -> Element? {
    guard let rest = lines.rest(), rest != endMarker else { return nil }
    return try decoder.decode(rest)
  }
}

/// The lines of a JSON stream, without blank lines.
private struct JSONLines {
  private var lines: LineSplitter
  private var isAtStart = true

  init(limit: Int) {
    // Splits at LF only, because a CR before LF is white space in JSON.
    lines = LineSplitter(.lineFeed, limit: limit)
  }

  mutating func feed(_ piece: Data) {
    lines.feed(piece)
  }

  /// Adds the lines of the next block. Returns whether there was a block.
  mutating func appendNextBlock(to texts: inout [Data]) throws -> Bool {
    try lines.nextBlock { line in
      if let text = Self.text(of: line, &isAtStart) { texts.append(text) }
    }
  }

  /// Returns the last line if it has no line feed and is not blank.
  mutating func rest() -> Data? {
    var rest: Data?
    lines.rest { rest = Self.text(of: $0, &isAtStart) }
    return rest
  }

  /// Returns a line without a CR at its end, or `nil` if it is blank.
  private static func text(of line: UnsafeRawBufferPointer, _ isAtStart: inout Bool) -> Data? {
    var line = line
    if isAtStart, line.starts(with: ByteOrderMark.utf8) { line = line.part(3..<line.count) }
    isAtStart = false
    if line.last == ByteSearch.carriageReturn { line = line.part(0..<line.count - 1) }
    return line.isJSONSpace ? nil : Data(copying: line)
  }
}
