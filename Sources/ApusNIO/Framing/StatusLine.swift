#if NIO
  import HTTPTypes

  /// The first line of an answer (RFC 9112 §4).
  struct StatusLine: Sendable, Equatable {
    let status: HTTPResponse.Status
    /// Whether the version is HTTP/1.1 or a later HTTP/1, and not HTTP/1.0 (RFC 9110 §2.5).
    let isPersistentVersion: Bool

    /// Reads `HTTP/1.1 200 OK`. Exactly one space each; the last one may be missing when there is no reason, as RFC 9112
    /// §4 lets a recipient do, since servers have always left it out.
    init(_ line: UnsafeRawBufferPointer) throws(FramingError) {
      try Self.checkStart(line)
      guard line.count >= 12, Octet.isDigit(line[5]), line[6] == UInt8(ascii: "."), Octet.isDigit(line[7]),
        line[8] == Octet.space
      else { throw Self.malformed }
      guard line[5] == UInt8(ascii: "1") else {
        throw FramingError(.unsupportedVersion, "the answer's version is not HTTP/1")
      }
      var code = 0
      for digit in line[9..<12] {
        guard Octet.isDigit(digit) else { throw Self.malformed }
        code = code * 10 + Int(digit &- UInt8(ascii: "0"))
      }
      guard code >= 100, line.count == 12 || line[12] == Octet.space else { throw Self.malformed }
      let reason = UnsafeRawBufferPointer(rebasing: line[min(13, line.count)...])
      let text = Octet.text(reason)
      guard text != .forbidden else { throw Self.malformed }
      status = HTTPResponse.Status(
        code: code, reasonPhrase: text == .ascii ? Octet.string(reason) : Self.text(reason))
      isPersistentVersion = line[7] != UInt8(ascii: "0")
    }

    /// Refuses what cannot become a status line before the line is complete: something else than HTTP answers.
    @inline(__always)
    static func checkStart(_ bytes: UnsafeRawBufferPointer) throws(FramingError) {
      let expected: StaticString = "HTTP/"
      for index in 0..<min(bytes.count, expected.utf8CodeUnitCount) where bytes[index] != expected.utf8Start[index] {
        throw malformed
      }
    }

    private static let malformed = FramingError(.malformedStatusLine, "the status line is malformed")

    /// UTF-8, or ISO 8859-1 where it is not that.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
      if let text = String(validating: bytes, as: UTF8.self) { return text }
      var text = ""
      for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
      return text
    }
  }
#endif
