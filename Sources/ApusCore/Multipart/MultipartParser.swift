import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An incremental parser of multipart content (body) into its parts (RFC 2046 §5.1). Pure.
///
/// Text before the first and after the last boundary is ignored.
struct MultipartParser {
  private enum Phase {
    /// The parser is before the first boundary.
    case preamble
    /// The parser is behind a boundary, before the end of its line.
    case delimiter
    /// The parser is in the fields of a part.
    case head
    case content
    /// The parser is behind the last boundary.
    case epilogue
  }

  private static let maximumParts = 10_000
  private static let maximumFields = 64
  private static let maximumHead = 16 << 10

  private let delimiter: [UInt8]
  private let limit: Int
  private var phase = Phase.preamble
  // The line end before the first boundary may be missing.
  private var buffer = Array("\r\n".utf8)
  /// The start of the current phase in `buffer`, and the index up to which no end of the phase was found.
  private var (start, searched) = (0, 0)
  private var fields = HTTPFields()
  private var count = 0
  private var isFinished = false

  /// - Parameters:
  ///   - boundary: the boundary from `Content-Type`.
  ///   - limit: the maximum length of a part in bytes, without its fields.
  /// - Throws: ``MultipartError`` for an invalid boundary (RFC 2046 §5.1.1).
  init(boundary: String?, limit: Int) throws(MultipartError) {
    guard let boundary, (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
    else { throw MultipartError("the media type has no valid boundary") }
    delimiter = Array("\r\n--\(boundary)".utf8)
    self.limit = limit
  }

  /// Whether the last boundary has been read.
  var isOver: Bool { phase == .epilogue }

  /// Adds a piece. Call it only when ``next()`` has returned `nil`.
  mutating func feed(_ piece: Data) {
    guard phase != .epilogue else { return }
    buffer.append(contentsOf: piece)
  }

  /// Ends the content.
  mutating func finish() {
    isFinished = true
  }

  /// Returns the next part, or `nil` if another piece is needed or after the last part.
  ///
  /// - Throws: ``MultipartError`` for malformed content; ``ElementTooLong``.
  mutating func next() throws -> ReceivedPart? {
    while phase != .epilogue {
      switch phase {
      case .preamble:
        guard try skipPreamble() else { return try more() }
      case .delimiter:
        guard try passDelimiter() else { return try more() }
      case .head:
        guard try readHead() else { return try more() }
      case .content:
        guard let content = try readContent() else { return try more() }
        return ReceivedPart(fields: fields, content: content)
      case .epilogue: break
      }
    }
    return nil
  }

  /// Discards parsed bytes, because another piece is needed.
  private mutating func more() throws -> ReceivedPart? {
    guard !isFinished else { throw MultipartError("the content ends before its last boundary") }
    buffer.removeFirst(start)
    (start, searched) = (0, searched - start)
    return nil
  }

  private mutating func enter(_ phase: Phase, at index: Int) {
    self.phase = phase
    (start, searched) = (index, index)
  }

  // MARK: Phases, each returns whether it has ended

  private mutating func skipPreamble() throws -> Bool {
    guard let end = index(of: delimiter) else {
      start = searched
      return false
    }
    enter(.delimiter, at: end + delimiter.count)
    return true
  }

  private mutating func passDelimiter() throws -> Bool {
    guard buffer.count >= start + 2 else { return false }
    if buffer[start] == UInt8(ascii: "-"), buffer[start + 1] == UInt8(ascii: "-") {
      enter(.epilogue, at: buffer.count)
      buffer = []
      return true
    }
    var index = start
    while index < buffer.count, buffer[index] == 0x20 || buffer[index] == 0x09 { index += 1 }
    guard index - start < Self.maximumHead else { throw MultipartError("a boundary is followed by too much space") }
    guard buffer.count >= index + 2 else { return false }
    guard buffer[index] == 0x0D, buffer[index + 1] == 0x0A else {
      throw MultipartError("a boundary is followed by other text")
    }
    count += 1
    guard count <= Self.maximumParts else { throw MultipartError("the content has too many parts") }
    // The line end also begins the empty line after a head without fields.
    enter(.head, at: index)
    return true
  }

  private mutating func readHead() throws -> Bool {
    guard let end = index(of: Array("\r\n\r\n".utf8)) else {
      guard buffer.count - start <= Self.maximumHead else { throw MultipartError("the fields of a part are too long") }
      return false
    }
    guard end - start <= Self.maximumHead else { throw MultipartError("the fields of a part are too long") }
    fields = try Self.fields(in: buffer[start..<end])
    // The second line end may begin the boundary of a part without content.
    enter(.content, at: end + 2)
    return true
  }

  private mutating func readContent() throws -> Data? {
    let found = index(of: delimiter)
    // The length without the line end of the head.
    let length = max(0, (found ?? searched) - start - 2)
    guard length <= limit else { throw ElementTooLong(element: "a part", limit: limit) }
    guard let end = found else { return nil }
    let content = end > start ? Data(buffer[(start + 2)..<end]) : Data()
    enter(.delimiter, at: end + delimiter.count)
    return content
  }

  /// Returns the first index of a pattern that begins with CR in the current phase, or `nil` if it has not arrived.
  private mutating func index(of pattern: [UInt8]) -> Int? {
    let found = buffer.withUnsafeBytes { bytes -> Int? in
      var index = searched
      while true {
        index = ByteSearch.first(ByteSearch.carriageReturn, in: bytes, from: index)
        guard index + pattern.count <= bytes.count else { break }
        if bytes.part(index..<index + pattern.count).elementsEqual(pattern) { return index }
        index += 1
      }
      searched = min(index, bytes.count)
      return nil
    }
    return found
  }

  // MARK: Fields

  private static func fields(in head: ArraySlice<UInt8>) throws(MultipartError) -> HTTPFields {
    var lines: [String] = []
    for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n" as Character).map(String.init) {
      // A line that begins with space continues the line before (RFC 5322 §2.2.3).
      if let first = line.utf8.first, first == 0x20 || first == 0x09, let last = lines.popLast() {
        lines.append(last + line)
      } else {
        lines.append(line)
      }
    }
    guard lines.count <= maximumFields else { throw MultipartError("a part has too many fields") }
    var fields = HTTPFields()
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
      guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
        throw MultipartError("a part has a malformed field")
      }
      var value = parts[1].drop(while: isSpace)
      while let last = value.last, isSpace(last) { value.removeLast() }
      guard HTTPField.isValidValue(String(value)) else { throw MultipartError("a part has a malformed field") }
      fields.append(HTTPField(name: name, value: String(value)))
    }
    return fields
  }
}

/// Multipart content that cannot be read.
struct MultipartError: LoggableError, Hashable {
  /// The reason as a clause, without any value of the content.
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
