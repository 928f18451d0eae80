#if NIO
  import HTTPTypes

  /// The names of fields that answers usually have, found by their bytes: no string is made, lower-cased or checked.
  ///
  /// Servers write names either capitalised or in lower case; both are kept ready, so that a name is reported as it was
  /// written. Any other spelling is made on the spot.
  struct FieldNames: Sendable {
    /// What a field means for the framing of its message.
    enum Role: UInt8, Sendable {
      case other
      case contentLength
      case transferEncoding
      case connection
    }

    private struct Entry: Sendable {
      let capitalised: HTTPField.Name
      let lowercased: HTTPField.Name
      let role: Role
    }

    static let shared = FieldNames()

    private let entries: [Entry]
    /// One more than an entry's index, at the hash of its name or the next place that was free; 0 ends a search.
    private let slots: [UInt8]

    private init() {
      var entries: [Entry] = []
      var slots = [UInt8](repeating: 0, count: Self.slotCount)
      for text in Self.common {
        guard let capitalised = HTTPField.Name(text), let lowercased = HTTPField.Name(capitalised.canonicalName) else {
          continue
        }
        entries.append(
          Entry(capitalised: capitalised, lowercased: lowercased, role: Self.role(of: lowercased.canonicalName)))
        var text = text
        var slot = text.withUTF8 { Self.hash(UnsafeRawBufferPointer($0)) }
        while slots[slot] != 0 { slot = (slot + 1) & (Self.slotCount - 1) }
        slots[slot] = UInt8(entries.count)
      }
      self.entries = entries
      self.slots = slots
    }

    /// The name and what it means, for bytes that are known to be a token.
    func find(_ bytes: UnsafeRawBufferPointer) -> (name: HTTPField.Name, role: Role)? {
      var slot = Self.hash(bytes)
      while slots[slot] != 0 {
        let entry = entries[Int(slots[slot]) - 1]
        if Self.isSame(bytes, entry.capitalised.rawName) { return (entry.capitalised, entry.role) }
        if Self.isSame(bytes, entry.lowercased.rawName) { return (entry.lowercased, entry.role) }
        slot = (slot + 1) & (Self.slotCount - 1)
      }
      guard let name = HTTPField.Name(String(decoding: bytes, as: UTF8.self)) else { return nil }
      return (name, Self.role(of: name.canonicalName))
    }

    private static let slotCount = 1024

    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
      guard let first = bytes.first, let last = bytes.last else { return 0 }
      let middle = UInt32(bytes[bytes.count / 2] | 0x20)
      let mixed =
        UInt32(first | 0x20) &* 0x9E37_79B1 ^ middle &* 0x85EB_CA77 ^ UInt32(last | 0x20) &* 0xC2B2_AE3D
        ^ UInt32(truncatingIfNeeded: bytes.count) &* 0x27D4_EB2F
      return Int(mixed >> 22)
    }

    @inline(__always)
    private static func isSame(_ bytes: UnsafeRawBufferPointer, _ text: String) -> Bool {
      let utf8 = text.utf8
      guard utf8.count == bytes.count else { return false }
      var index = 0
      for byte in utf8 {
        if byte != bytes[index] { return false }
        index += 1
      }
      return true
    }

    private static func role(of name: String) -> Role {
      switch name {
      case "content-length": .contentLength
      case "transfer-encoding": .transferEncoding
      case "connection": .connection
      default: .other
      }
    }

    /// At most 255.
    private static let common = [
      "Accept-CH", "Accept-Patch", "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
      "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
      "Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Cache-Control", "CF-Cache-Status", "CF-RAY", "Connection",
      "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
      "Content-Location", "Content-Range", "Content-Security-Policy", "Content-Type", "Cross-Origin-Embedder-Policy",
      "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Date", "Deprecation", "ETag", "Expires",
      "Idempotency-Key", "Keep-Alive", "Last-Modified", "Link", "Location", "NEL", "Origin-Agent-Cluster", "P3P",
      "Permissions-Policy", "Pragma", "Proxy-Authenticate", "RateLimit", "RateLimit-Policy", "Referrer-Policy",
      "Report-To", "Reporting-Endpoints", "Repr-Digest", "Retry-After", "Server", "Server-Timing", "Set-Cookie",
      "Strict-Transport-Security", "Sunset", "Timing-Allow-Origin", "Trailer", "Transfer-Encoding", "Upgrade", "Vary",
      "Via", "Warning", "WWW-Authenticate", "X-Amz-Id-2", "X-Amz-Request-Id", "X-Amzn-RequestId", "X-Amzn-Trace-Id",
      "X-Cache", "X-Cache-Hits", "X-Content-Type-Options", "X-Correlation-Id", "X-DNS-Prefetch-Control",
      "X-Download-Options", "X-Frame-Options", "X-Permitted-Cross-Domain-Policies", "X-Powered-By",
      "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "X-Response-Time",
      "X-Robots-Tag", "X-Runtime", "X-Served-By", "X-Timer", "X-Trace-Id", "X-XSS-Protection",
    ]
  }
#endif
