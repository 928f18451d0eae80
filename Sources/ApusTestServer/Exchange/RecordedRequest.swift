#if NIO
  /// A request as the server got it, nothing normalised.
  public struct RecordedRequest: Sendable, Hashable {
    /// The place of its exchange among all of the server's, from 0, by arrival of the head.
    public let number: Int
    /// The number of the connection it came on, from 0; two requests with the same number shared a connection.
    public let connection: Int
    /// The method's token exactly as received, such as `GET`, `QUERY` or `get`.
    public let method: String
    /// The request target exactly as received: path and query, nothing decoded.
    public let target: String
    /// The protocol version as received: `HTTP/1.1` or `HTTP/1.0`.
    public let version: String
    /// The field lines of the head, in order.
    public let fields: FieldLines
    /// The trailers of chunked content; empty until the content is complete.
    public internal(set) var trailers: FieldLines = [:]
    /// The first bytes of the content received so far, at most ``TestServer/Options/contentCap`` of them.
    public internal(set) var content: [UInt8] = []
    /// How many bytes of content were received so far, kept or not, without chunk framing.
    public internal(set) var contentLength = 0
    /// The digest of all content received so far, kept or not.
    public internal(set) var digest = ContentDigest()
    /// Whether the end of the content, and so of the request, was received.
    public internal(set) var isComplete = false

    /// The target up to its first question mark.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The target after its first question mark, or `nil` when it has none.
    public var query: String? {
      target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The content kept, read as UTF-8.
    public var text: String { String(decoding: content, as: UTF8.self) }

    /// Whether the client wants to go on with the connection after this exchange (RFC 9112 section 9.3).
    var keepsAlive: Bool {
      version == "HTTP/1.1"
        ? !fields.contains("close", in: "Connection") : fields.contains("keep-alive", in: "Connection")
    }
  }
#endif
