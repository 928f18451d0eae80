#if NIO
  /// HTTP/1.1 requests out of bytes, strictly by RFC 9112: a pure state machine, fed with ``append(_:)``, asked with
  /// ``next()``.
  ///
  /// NIO's own parser refuses method tokens it does not know and normalises what it reads; a test wants any token, and
  /// everything as it came. Strict, so that a client's mistakes show: lines end in CRLF, HTTP/1.1 needs one Host, and
  /// ambiguous framing is refused.
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

    /// How the end of a request's content is known.
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

    /// The most bytes of a head, of trailers or of a chunk's size line.
    static let headLimit = 1 << 18

    private var state = State.requestLine
    private var head = Head(method: "", target: "", version: "")
    /// The lines read so far of a head or of trailers; outside of `state`, where adding one would copy them all.
    private var lines: FieldLines = [:]
    private var bytes: ArraySlice<UInt8> = []
    private var headLength = 0

    mutating func append(_ more: some Sequence<UInt8>) {
      // What has been read stays in a slice's storage; a new slice lets go of it.
      if bytes.isEmpty { bytes = [] }
      bytes += more
    }

    /// The next event, or `nil` when more bytes are needed.
    mutating func next() throws(Malformed) -> Event? {
      while true {
        switch state {
        case .counted(0):
          return end(trailers: [:])
        case .counted(let rest):
          guard let content = content(atMost: rest) else { return nil }
          state = .counted(rest - content.count)
          return .content(content)
        case .chunk(0):
          state = .chunkEnd
        case .chunk(let rest):
          guard let content = content(atMost: rest) else { return nil }
          state = .chunk(rest - content.count)
          return .content(content)
        case .requestLine, .fields, .chunkSize, .chunkEnd, .trailers:
          guard let line = try line() else { return nil }
          if let event = try read(line) { return event }
        }
      }
    }

    /// Takes in one line, and makes the event it completes.
    private mutating func read(_ line: String) throws(Malformed) -> Event? {
      switch state {
      case .requestLine:
        // RFC 9112 section 2.2: an empty line before a request is to be ignored.
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

    /// The next line without its CRLF, or `nil` when its end has not come yet.
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
      // Field values are octets; what is not UTF-8 is read as ISO-8859-1, one character an octet.
      return String(validating: octets, as: UTF8.self)
        ?? String(String.UnicodeScalarView(octets.map(Unicode.Scalar.init)))
    }
  }
#endif
