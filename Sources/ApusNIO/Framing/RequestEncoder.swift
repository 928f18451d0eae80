#if NIO
  import HTTPTypes
  import NIOCore

  /// Writes requests as HTTP/1.1 (RFC 9112 §3, §6, §7) into one buffer, without a string in between.
  ///
  /// What is framing's is written here and nowhere else: `Host`, `Content-Length`, `Transfer-Encoding`. Everything else is
  /// checked byte by byte as it is copied, and refused, not cleaned: a control character would end a line and begin
  /// another request.
  struct RequestEncoder: Sendable {
    /// What the request line names.
    var form = TargetForm.origin
    /// How the content is framed.
    var framing = RequestFraming.none
    /// Fields of the transport's own, after the message's: `User-Agent`, `Accept-Encoding`, `Proxy-Authorization`,
    /// `Connection`.
    var adding = HTTPFields()

    /// Writes a request's head, up to and with the empty line.
    ///
    /// - Throws: ``FramingError`` with ``FramingError/Kind/invalidMethod``, ``FramingError/Kind/invalidTarget`` or
    ///   ``FramingError/Kind/invalidField``; the buffer is then as it was.
    func encodeHead(_ head: HTTPRequest, into buffer: inout ByteBuffer) throws(FramingError) {
      let start = buffer.writerIndex
      do throws(FramingError) {
        buffer.reserveCapacity(minimumWritableBytes: 256)
        try writeRequestLine(head, &buffer)
        for field in head.headerFields { try write(field, unless: Self.isReserved, &buffer) }
        for field in adding { try write(field, unless: Self.isFraming, &buffer) }
        switch framing {
        case .none: break
        case .length(let length):
          buffer.writeStaticString("Content-Length: ")
          buffer.writeDecimal(length)
          buffer.writeStaticString("\r\n")
        case .chunked: buffer.writeStaticString("Transfer-Encoding: chunked\r\n")
        }
        buffer.writeStaticString("\r\n")
      } catch {
        buffer.moveWriterIndex(to: start)
        throw error
      }
    }

    private func writeRequestLine(_ head: HTTPRequest, _ buffer: inout ByteBuffer) throws(FramingError) {
      let method = head.method.rawValue
      guard !method.isEmpty, buffer.write(method, where: Octet.isToken) else {
        throw FramingError(.invalidMethod, "the method is no token")
      }
      buffer.writeStaticString(" ")
      guard let authority = head.authority else { throw Self.invalidAuthority }
      switch form {
      case .origin: break
      case .absolute:
        guard let scheme = head.scheme, !scheme.isEmpty, buffer.write(scheme, where: TargetRules.isScheme) else {
          throw FramingError(.invalidTarget, "the scheme is missing or malformed")
        }
        buffer.writeStaticString("://")
        try write(authority: authority, &buffer)
      case .authority:
        try write(authority: authority, &buffer)
      }
      if form != .authority { try write(path: head.path ?? "/", method, &buffer) }
      buffer.writeStaticString(" HTTP/1.1\r\nHost: ")
      try write(authority: authority, &buffer)
      buffer.writeStaticString("\r\n")
    }

    private func write(path: String, _ method: String, _ buffer: inout ByteBuffer) throws(FramingError) {
      var path = path
      if path.utf8.first == UInt8(ascii: "?") || path.isEmpty { buffer.writeStaticString("/") }
      if path == "*", method == "OPTIONS" {
        // RFC 9112 §3.2.4: as a URL, it is one without a path.
        if form == .absolute { path = "" }
      } else if let first = path.utf8.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?") {
        throw FramingError(.invalidTarget, "the path does not begin with a slash")
      }
      guard buffer.write(path, where: TargetRules.isTarget) else {
        throw FramingError(.invalidTarget, "the target holds a character that is not allowed")
      }
    }

    private func write(authority: String, _ buffer: inout ByteBuffer) throws(FramingError) {
      guard !authority.isEmpty, buffer.write(authority, where: TargetRules.isAuthority) else {
        throw Self.invalidAuthority
      }
    }

    private func write(
      _ field: HTTPField, unless isRefused: (String) -> Bool, _ buffer: inout ByteBuffer
    ) throws(FramingError) {
      guard !isRefused(field.name.canonicalName) else {
        throw FramingError(.invalidField, "the field \(field.name) is set by the transport")
      }
      guard !field.name.rawName.isEmpty, buffer.write(field.name.rawName, where: Octet.isToken) else {
        throw FramingError(.invalidField, "a field's name is no token")
      }
      buffer.writeStaticString(": ")
      let isText = field.withUnsafeBytesOfValue { value in
        buffer.writeBytes(value)
        return Octet.isText(UnsafeRawBufferPointer(value))
      }
      guard isText else {
        throw FramingError(.invalidField, "the value of the field \(field.name) holds a character that is not allowed")
      }
      buffer.writeStaticString("\r\n")
    }

    private static let invalidAuthority = FramingError(.invalidTarget, "the authority is missing or malformed")

    /// What no field may be named, since it is written from the request's authority and framing.
    private static func isFraming(_ name: String) -> Bool {
      switch name.utf8.count {
      case 4: name == "host"
      case 14: name == "content-length"
      case 17: name == "transfer-encoding"
      default: false
      }
    }

    /// What no message may set: the connection is the transport's (RFC 9110 §7.6.1).
    private static func isReserved(_ name: String) -> Bool {
      switch name.utf8.count {
      case 2: name == "te"
      case 4: name == "host"
      case 7: name == "upgrade" || name == "trailer"
      case 10: name == "connection" || name == "keep-alive"
      case 14: name == "content-length"
      case 16: name == "proxy-connection"
      case 17: name == "transfer-encoding"
      default: false
      }
    }
  }
#endif
