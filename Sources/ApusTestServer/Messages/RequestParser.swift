/// A strict parser of HTTP/1.1 requests (RFC 9112). A pure state machine: ``append(_:)`` adds bytes, ``next()``
/// returns the next event.
///
/// NIO's parser refuses unknown method tokens and normalizes its input; tests need any token, unchanged. The parser
/// is strict so that a client's mistakes are detected: lines must end in CRLF, HTTP/1.1 requires exactly one Host
/// field, and ambiguous framing is refused.
struct RequestParser {
  struct Head: Equatable {
    var method: String
    var target: String
    var version: String
    var fields: FieldLines = [:]
  }

  enum Event: Equatable {
    case head(Head)
    case content(ArraySlice<UInt8>)
    case end(trailers: FieldLines)
  }

  struct Malformed: Error, Equatable {
    var reason: String
  }

  /// The framing of a request's content.
  enum FramedContent: Equatable {
    case counted(Int)
    case chunked
  }

  private enum State {
    case requestLine
    case fields
    case counted(Int)
    case chunkSize
    case chunk(Int)
    case chunkEnd
    case trailers
  }

  /// The maximum size in bytes of a head, of trailers, or of a chunk's size line.
  static let headLimit = 1 << 18

  private var state = State.requestLine
  private var head = Head(method: "", target: "", version: "")
  /// The lines read so far of a head or of trailers. Not part of `state`, because appending would copy all lines.
  private var lines: FieldLines = [:]
  private var bytes: ArraySlice<UInt8> = []
  private var headLength = 0

  mutating func append(_ more: some Sequence<UInt8>) {
    // A slice retains the consumed bytes; a new slice releases them.
    if bytes.isEmpty { bytes = [] }
    bytes += more
  }

  /// Returns the next event, or `nil` if more bytes are needed.
  ///
  /// - Parameter most: the maximum number of bytes of content in the event.
  mutating func next(contentAtMost most: Int = .max) throws(Malformed) -> Event? {
    while true {
      switch state {
      case .counted(0):
        return end(trailers: [:])
      case .counted(let rest):
        guard let content = content(atMost: min(rest, most)) else { return nil }
        state = .counted(rest - content.count)
        return .content(content)
      case .chunk(0):
        state = .chunkEnd
      case .chunk(let rest):
        guard let content = content(atMost: min(rest, most)) else { return nil }
        state = .chunk(rest - content.count)
        return .content(content)
      case .requestLine, .fields, .chunkSize, .chunkEnd, .trailers:
        guard let line = try line() else { return nil }
        if let event = try read(line) { return event }
      }
    }
  }

  /// Consumes one line and returns the event it completes, if any.
  private mutating func read(_ line: String) throws(Malformed) -> Event? {
    switch state {
    case .requestLine:
      // RFC 9112 section 2.2: a server ignores an empty line before a request.
      guard !line.isEmpty else { return nil }
      head = try Self.requestLine(line)
      state = .fields
    case .fields where !line.isEmpty, .trailers where !line.isEmpty:
      lines.append(try Self.fieldLine(line))
    case .fields:
      head.fields = lines
      lines = [:]
      switch try Self.content(after: head) {
      case .counted(let length): state = .counted(length)
      case .chunked: state = .chunkSize
      }
      headLength = 0
      return .head(head)
    case .chunkSize:
      let size = try Self.chunkSize(line)
      state = size == 0 ? .trailers : .chunk(size)
      headLength = 0
    case .chunkEnd:
      guard line.isEmpty else { throw Malformed(reason: "chunk longer than its size") }
      state = .chunkSize
    case .trailers:
      defer { lines = [:] }
      return end(trailers: lines)
    case .counted, .chunk:
      break
    }
    return nil
  }

  private mutating func end(trailers: FieldLines) -> Event {
    state = .requestLine
    headLength = 0
    return .end(trailers: trailers)
  }

  private mutating func content(atMost limit: Int) -> ArraySlice<UInt8>? {
    guard !bytes.isEmpty else { return nil }
    let content = bytes.prefix(limit)
    bytes = bytes.dropFirst(content.count)
    return content
  }

  /// Returns the next line without its CRLF, or `nil` if it is not complete.
  private mutating func line() throws(Malformed) -> String? {
    guard let lineFeed = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
      if headLength + bytes.count > Self.headLimit { throw Malformed(reason: "head too long") }
      return nil
    }
    headLength += lineFeed - bytes.startIndex + 1
    if headLength > Self.headLimit { throw Malformed(reason: "head too long") }
    let line = bytes[..<lineFeed]
    bytes = bytes[(lineFeed + 1)...]
    guard line.last == UInt8(ascii: "\r") else { throw Malformed(reason: "line does not end in CRLF") }
    let octets = line.dropLast()
    guard !octets.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
      throw Malformed(reason: "NUL or CR inside a line")
    }
    // Field values are octets: octets that are not valid UTF-8 are decoded as ISO-8859-1, one character per octet.
    return String(validating: octets, as: UTF8.self)
      ?? String(String.UnicodeScalarView(octets.map(Unicode.Scalar.init)))
  }

  // MARK: Grammar of single lines

  private static func requestLine(_ line: String) throws(Malformed) -> Head {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw Malformed(reason: "request line is not method, target and version") }
    guard isToken(parts[0]) else { throw Malformed(reason: "method is not a token") }
    guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw Malformed(reason: "empty target or control character in it")
    }
    guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { throw Malformed(reason: "unknown version") }
    return Head(method: parts[0], target: parts[1], version: parts[2])
  }

  private static func fieldLine(_ line: String) throws(Malformed) -> FieldLine {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
      throw Malformed(reason: "field line without a colon")
    }
    let name = String(line[..<colon])
    guard isToken(name) else { throw Malformed(reason: "field name is not a token") }
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let value = line[line.utf8.index(after: colon)...].trimmingPrefix(while: isBlank)
    return FieldLine(name: name, value: String(value.reversed().trimmingPrefix(while: isBlank).reversed()))
  }

  /// Returns the framing of a request's content (RFC 9112 section 6.3).
  private static func content(after head: Head) throws(Malformed) -> FramedContent {
    if head.version == "HTTP/1.1", head.fields.values(of: "Host").count != 1 {
      throw Malformed(reason: "not exactly one Host field")
    }
    let lengths = Set(head.fields.values(of: "Content-Length"))
    if let coding = head.fields["Transfer-Encoding"] {
      guard coding.lowercased() == "chunked" else { throw Malformed(reason: "unknown transfer coding") }
      guard lengths.isEmpty else { throw Malformed(reason: "both Content-Length and Transfer-Encoding") }
      return .chunked
    }
    guard let length = lengths.first else { return .counted(0) }
    guard lengths.count == 1, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(length) else {
      throw Malformed(reason: "Content-Length is not one number")
    }
    return .counted(count)
  }

  /// Returns the size given on a chunk's first line; extensions are ignored.
  private static func chunkSize(_ line: String) throws(Malformed) -> Int {
    let digits = line.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
    guard digits.first?.isHexDigit == true, let size = Int(digits, radix: 16) else {
      throw Malformed(reason: "chunk size is not a number")
    }
    return size
  }

  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(tokenOctets.contains)
  }

  private static let tokenOctets = Set(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
}
