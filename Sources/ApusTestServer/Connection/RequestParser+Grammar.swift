#if NIO
  /// The rules for single lines.
  extension RequestParser {
    static func requestLine(_ line: String) throws(Malformed) -> Head {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3 else { throw Malformed(reason: "request line is not method, target and version") }
      guard isToken(parts[0]) else { throw Malformed(reason: "method is not a token") }
      guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
        throw Malformed(reason: "empty target or control character in it")
      }
      guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { throw Malformed(reason: "unknown version") }
      return Head(method: parts[0], target: parts[1], version: parts[2])
    }

    static func fieldLine(_ line: String) throws(Malformed) -> FieldLine {
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
        throw Malformed(reason: "field line without a colon")
      }
      let name = String(line[..<colon])
      guard isToken(name) else { throw Malformed(reason: "field name is not a token") }
      let isBlank = { (character: Character) in character == " " || character == "\t" }
      let value = line[line.utf8.index(after: colon)...].trimmingPrefix(while: isBlank)
      return FieldLine(name: name, value: String(value.reversed().trimmingPrefix(while: isBlank).reversed()))
    }

    /// How the content of a request is framed (RFC 9112 section 6.3).
    static func content(after head: Head) throws(Malformed) -> FramedContent {
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

    /// The size on a chunk's first line; its extensions are ignored.
    static func chunkSize(_ line: String) throws(Malformed) -> Int {
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
#endif
