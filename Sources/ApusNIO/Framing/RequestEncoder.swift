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
      // Measured first, so that it is one write and not thirty.
      try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: measure(head)) { target throws(FramingError) in
        var writer = HeadWriter(target)
        try write(head, &writer)
        return writer.count
      }
    }

    /// At least as many bytes as the head has.
    private func measure(_ head: HTTPRequest) -> Int {
      var count = 128 + head.method.rawValue.utf8.count + (head.path?.utf8.count ?? 1)
      count += (head.scheme?.utf8.count ?? 0) + 2 * (head.authority?.utf8.count ?? 0)
      for field in head.headerFields { count += Self.measure(field) }
      for field in adding { count += Self.measure(field) }
      return count
    }

    private static func measure(_ field: HTTPField) -> Int {
      field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 4
    }

    private func write(_ head: HTTPRequest, _ writer: inout HeadWriter) throws(FramingError) {
      try writeRequestLine(head, &writer)
      for field in head.headerFields { try write(field, unless: Self.isReserved, &writer) }
      for field in adding { try write(field, unless: Self.isFraming, &writer) }
      switch framing {
      case .none: break
      case .length(let length):
        try writer.write("Content-Length: ")
        try writer.writeDecimal(length)
        try writer.write("\r\n")
      case .chunked: try writer.write("Transfer-Encoding: chunked\r\n")
      }
      try writer.write("\r\n")
    }

    private func writeRequestLine(_ head: HTTPRequest, _ writer: inout HeadWriter) throws(FramingError) {
      let method = head.method.rawValue
      guard !method.isEmpty, try writer.write(method, where: Octet.isToken) else {
        throw FramingError(.invalidMethod, "the method is no token")
      }
      try writer.write(" ")
      guard let authority = head.authority, !authority.isEmpty else { throw Self.invalidAuthority }
      switch form {
      case .origin: break
      case .absolute:
        guard let scheme = head.scheme, !scheme.isEmpty, try writer.write(scheme, where: TargetRules.isScheme) else {
          throw FramingError(.invalidTarget, "the scheme is missing or malformed")
        }
        try writer.write("://")
        try write(authority: authority, &writer)
      case .authority:
        try write(authority: authority, &writer)
      }
      if form != .authority { try write(path: head.path ?? "/", method, &writer) }
      try writer.write(" HTTP/1.1\r\nHost: ")
      try write(authority: authority, &writer)
      try writer.write("\r\n")
    }

    private func write(path: String, _ method: String, _ writer: inout HeadWriter) throws(FramingError) {
      var path = path
      let first = path.utf8.first
      if first == nil || first == UInt8(ascii: "?") {
        try writer.write("/")
      } else if path == "*", method == "OPTIONS" {
        // RFC 9112 §3.2.4: as a URL, it is one without a path.
        if form == .absolute { path = "" }
      } else if first != UInt8(ascii: "/") {
        throw FramingError(.invalidTarget, "the path does not begin with a slash")
      }
      guard try writer.write(path, where: TargetRules.isTarget) else {
        throw FramingError(.invalidTarget, "the target holds a character that is not allowed")
      }
    }

    private func write(authority: String, _ writer: inout HeadWriter) throws(FramingError) {
      guard try writer.write(authority, where: TargetRules.isAuthority) else { throw Self.invalidAuthority }
    }

    private func write(
      _ field: HTTPField, unless isRefused: (String) -> Bool, _ writer: inout HeadWriter
    ) throws(FramingError) {
      guard !isRefused(field.name.canonicalName) else {
        throw FramingError(.invalidField, "the field \(field.name) is set by the transport")
      }
      guard try writer.write(field.name.rawName, where: Octet.isToken) else {
        throw FramingError(.invalidField, "a field's name is no token")
      }
      try writer.write(": ")
      let isText = try field.withUnsafeBytesOfValue { value throws(FramingError) in
        Octet.isText(try writer.write(UnsafeRawBufferPointer(value)))
      }
      guard isText else {
        throw FramingError(.invalidField, "the value of the field \(field.name) holds a character that is not allowed")
      }
      try writer.write("\r\n")
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
