#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The elements of a ``JSONStream`` with the media type `application/json-seq` (RFC 7464).
struct JSONSequenceElements<Element: Decodable & Sendable>: ElementParser {
  private var texts: JSONSequenceSplitter
  private var decoder: ElementDecoder<Element>
  private let context: StreamContext
  private let endMarker: Data?
  private(set) var isOver = false

  init(_ context: StreamContext) {
    self.context = context
    texts = JSONSequenceSplitter(limit: context.options.maximumElementSize ?? StreamOptions.jsonLimit)
    decoder = ElementDecoder(json: context)
    endMarker = context.options.endMarker.map { Data("\($0)\n".utf8) }
  }

  mutating func feed(_ piece: Data) {
    texts.feed(piece)
  }

  mutating func finish() {
    texts.finish()
  }

  mutating func next() throws -> Element? {
    while !isOver, let text = try context.limiting({ try texts.next() }) {
      if text.bytes == endMarker {
        isOver = true
      } else if let element = try decoder.decode(text.bytes, fault: text.fault.map { CallFault(.decoding, $0) }) {
        return element
      }
    }
    return nil
  }
}

/// A splitter of a JSON text sequence (RFC 7464) into its texts. Pure.
///
/// A text ends at the record separator (RS) of the next text, at the end of the sequence, or at a line feed outside of
/// strings, arrays and objects. No JSON text contains RS, so the next RS also ends a malformed text.
struct JSONSequenceSplitter {
  /// A text of a sequence.
  struct Text: Hashable {
    var bytes = Data()
    /// The reason why the text may be incomplete, or `nil` if it is complete.
    var fault: String?
  }

  /// The section of the sequence that is being read.
  private enum Section {
    /// The splitter is before the first RS.
    case start
    case text
    /// The splitter is between the line feed of a text and the RS of the next text.
    case gap
  }

  private static let separator: UInt8 = 0x1E

  private let limit: Int
  private var piece = Data()
  private var position = 0
  private var section = Section.start
  private var text = Data()
  private var nesting = SequenceNesting()
  private var isFinished = false

  /// - Parameter limit: the maximum length of a text, in bytes.
  init(limit: Int) {
    self.limit = limit
  }

  /// Adds a piece. Call it only when ``next()`` has returned `nil`.
  mutating func feed(_ piece: Data) {
    (self.piece, position) = (piece, 0)
  }

  /// Ends the sequence, so that ``next()`` returns its last text.
  mutating func finish() {
    isFinished = true
  }

  /// Returns the next text that is not blank, or `nil` if another piece is needed.
  ///
  /// - Throws: ``ElementTooLong``.
  mutating func next() throws -> Text? {
    while position < piece.count {
      let (end, stop) = piece.withUnsafeBytes { scan($0, from: position) }
      try append(position..<end)
      position = min(end + 1, piece.count)
      switch stop {
      case .none: break
      case .separator:
        let done = take()
        section = .text
        if let done { return done }
      case .lineFeed:
        text.append(ByteSearch.lineFeed)
        let done = take()
        section = .gap
        if let done { return done }
      }
    }
    return isFinished ? take() : nil
  }

  private enum Stop {
    case none
    case separator
    case lineFeed
  }

  /// Returns the index of the byte that ends the current text, or the number of bytes.
  private mutating func scan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> (Int, Stop) {
    guard section == .text else {
      let end = ByteSearch.first(Self.separator, in: bytes, from: start)
      return (end, end < bytes.count ? .separator : .none)
    }
    var (nesting, index) = (nesting, start)
    defer { self.nesting = nesting }
    while index < bytes.count {
      let byte = bytes[index]
      if byte == Self.separator { return (index, .separator) }
      if byte == ByteSearch.lineFeed, nesting.isComplete { return (index, .lineFeed) }
      nesting.take(byte)
      index += 1
    }
    return (index, .none)
  }

  private mutating func append(_ range: Range<Int>) throws {
    guard text.count + range.count <= limit else { throw ElementTooLong(element: "a JSON text", limit: limit) }
    let start = piece.startIndex
    text.append(piece[start + range.lowerBound..<start + range.upperBound])
  }

  /// Ends the current text. Returns the text unless it is blank.
  private mutating func take() -> Text? {
    defer { (text, nesting) = (Data(), SequenceNesting()) }
    guard let first = text.first(where: { !$0.isJSONSpace }) else { return nil }
    if section != .text { return Text(bytes: text, fault: "text without a record separator") }
    // Without its last byte, an object, array or string is invalid, but a number may still be valid (RFC 7464 §2.4).
    let isDelimited = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
    let isTerminated = text.last?.isJSONSpace ?? false
    return Text(bytes: text, fault: isDelimited || isTerminated ? nil : "the text may have been cut off")
  }
}

/// The nesting of a JSON text up to the current byte.
private struct SequenceNesting {
  private var depth = 0
  private var isString = false
  private var isEscaped = false
  private var hasContent = false

  /// Whether a line feed ends the text at this byte, if the text is valid.
  var isComplete: Bool { hasContent && depth == 0 && !isString }

  mutating func take(_ byte: UInt8) {
    if isString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isString = false
      }
      return
    }
    switch byte {
    case UInt8(ascii: "\""): (isString, hasContent) = (true, true)
    case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, hasContent) = (depth + 1, true)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): (depth, hasContent) = (max(0, depth - 1), true)
    default: if !byte.isJSONSpace { hasContent = true }
    }
  }
}
