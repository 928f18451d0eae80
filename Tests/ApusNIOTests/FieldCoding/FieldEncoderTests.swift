import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Field encoder")
struct FieldEncoderTests {
  /// The representation of a field, by its first bits.
  enum Form: String {
    case index
    case indexed
    case literal
    case sensitive
    case tableSize

    init(_ byte: UInt8) {
      switch byte {
      case 0x80...: self = .index
      case 0x40...: self = .indexed
      case 0x20...: self = .tableSize
      case 0x10...: self = .sensitive
      default: self = .literal
      }
    }
  }

  /// Returns the representation of the only field of a request, after the four pseudo-header fields.
  private func form(_ field: HTTPField, _ encoder: inout FieldEncoder) throws -> Form {
    _ = try encoder.block(request())
    return Form(try encoder.block(request(fields: HTTPFields([field])))[4])
  }

  private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

  @Test("The pseudo-header fields come first, in the order method, scheme, path, authority")
  func order() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    let head = request(.put, authority: "h:8443", path: "/a?b", fields: [.accept: "*/*", .cookie: "a=b"])
    let block = try encoder.block(head, adding: [.userAgent: "Apus"], framing: .length(1_234_567_890))
    #expect(
      try decoder.lines(block) == [
        ":method: PUT", ":scheme: https", ":path: /a?b", ":authority: h:8443", "accept: */*", "cookie: a=b",
        "user-agent: Apus", "content-length: 1234567890",
      ])
  }

  @Test(
    "The encoder writes content-length only if the content length is known",
    arguments: [
      (RequestFraming.none, [String]()), (.chunked, []), (.length(0), ["content-length: 0"]),
      (.length(-1), ["content-length: 0"]), (.length(.max), ["content-length: 9223372036854775807"]),
    ])
  func framing(framing: RequestFraming, lines: [String]) throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    #expect(try decoder.lines(encoder.block(request(), framing: framing)).dropFirst(4) == lines[...])
  }

  @Test(
    "The written path begins with a slash or is the asterisk of OPTIONS",
    arguments: [
      (HTTPRequest.Method.get, "/x", "/x"), (.get, "", "/"), (.get, nil, "/"), (.get, "?q", "/?q"),
      (.options, "*", "*"),
    ] as [(HTTPRequest.Method, String?, String)])
  func paths(method: HTTPRequest.Method, path: String?, written: String) throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    #expect(try decoder.lines(encoder.block(request(method, path: path)))[2] == ":path: \(written)")
  }

  @Test("A CONNECT request has neither :scheme nor :path")
  func connect() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    let block = try encoder.block(request(.connect, authority: "h:443", path: "/ignored"))
    #expect(try decoder.lines(block) == [":method: CONNECT", ":authority: h:443"])
  }

  @Test("Field names are written in lower case, and field values without surrounding white space")
  func spelling() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    let field = HTTPField(name: try name("X-Mixed"), lenientValue: Array(" \ta b\t ".utf8))
    #expect(try decoder.lines(encoder.block(request(fields: HTTPFields([field])))).last == "x-mixed: a b")
    #expect(try encoder.block(request(fields: [try name("x-mixed"): "a b"])).last == 0xBE)
  }

  @Test("Field values that are not UTF-8 are preserved")
  func bytesOfValues() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    let field = HTTPField(name: try name("a"), value: [0x62, 0xE9, 0xFF])
    _ = try decoder.lines(encoder.block(request(fields: HTTPFields([field]))))
    // The field is now the newest entry of the dynamic table.
    let fields = try decoder.block([0x88, 0xBE]).head().headerFields
    #expect(fields.last.map { $0.withUnsafeBytesOfValue { Array($0) } } == [0x62, 0xE9, 0xFF])
  }

  @Test(
    "Credential fields are written as never-indexed literals",
    arguments: ["authorization", "proxy-authorization", "x-api-key", "x-amz-security-token"])
  func sensitive(text: String) throws {
    var encoder = FieldEncoder()
    var field = HTTPField(name: try name(text), value: "Bearer abc")
    for _ in 0..<2 { #expect(try form(field, &encoder) == .sensitive) }
    field.indexingStrategy = .prefer
    #expect(try form(field, &encoder) == .sensitive)
    #expect(encoder.tableCount == 1)
  }

  @Test("Cookies shorter than 20 bytes are never-indexed literals, and longer cookies are indexed")
  func cookies() throws {
    var encoder = FieldEncoder()
    let short = HTTPField(name: .cookie, value: "a=0123456789abcdefg")
    let long = HTTPField(name: .cookie, value: "a=0123456789abcdefgh")
    #expect(try form(short, &encoder) == .sensitive)
    #expect(try form(long, &encoder) == .indexed)
    #expect(try form(long, &encoder) == .index)
    #expect(try form(short, &encoder) == .sensitive)
  }

  @Test("The encoder follows the indexing strategy of a field")
  func strategies() throws {
    var encoder = FieldEncoder()
    var field = HTTPField(name: try name("x-a"), value: "b")
    field.indexingStrategy = .disallow
    #expect(try form(field, &encoder) == .sensitive)
    field.indexingStrategy = .avoid
    #expect(try form(field, &encoder) == .literal)
    #expect(encoder.tableCount == 1)
    field.indexingStrategy = .automatic
    #expect(try form(field, &encoder) == .indexed)
    #expect(try form(field, &encoder) == .index)
    var range = HTTPField(name: .range, value: "bytes=0-1")
    range.indexingStrategy = .prefer
    #expect(try form(range, &encoder) == .indexed)
    var encoding = HTTPField(name: .acceptEncoding, value: "gzip, deflate")
    #expect(try form(encoding, &encoder) == .index)
    encoding.indexingStrategy = .disallow
    #expect(try form(encoding, &encoder) == .sensitive)
  }

  @Test(
    "Fields whose values change from request to request are not indexed",
    arguments: [
      "traceparent", "tracestate", "idempotency-key", "x-request-id", "date", "range", "if-match", "if-none-match",
      "if-modified-since", "if-unmodified-since", "if-range", "content-range", "baggage", "x-amz-date",
    ])
  func volatile(text: String) throws {
    var encoder = FieldEncoder()
    for _ in 0..<2 { #expect(try form(HTTPField(name: name(text), value: "v"), &encoder) == .literal) }
    #expect(encoder.tableCount == 1)
  }

  @Test("The authority and accept fields enter the dynamic table, but paths and content lengths do not")
  func table() throws {
    var encoder = FieldEncoder()
    for path in ["/a", "/b"] {
      _ = try encoder.block(request(path: path, fields: [.accept: "*/*"]), framing: .length(5))
    }
    // `:authority` and `accept`.
    #expect(encoder.tableCount == 2)
    #expect(try encoder.block(request(fields: [.accept: "*/*"])) == [0x82, 0x87, 0x84, 0xBF, 0xBE])
  }

  @Test("A literal field refers to its name in the dynamic table by index")
  func dynamicNames() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    let name = try name("x-long-name-of-a-field")
    for value in ["one", "two", "three"] {
      let block = try encoder.block(request(fields: [name: value]))
      #expect(try decoder.lines(block).last == "x-long-name-of-a-field: \(value)")
      if value == "three" { #expect(block.count == 4 + 1 + 5) }
    }
  }

  @Test("A field that would fill most of the dynamic table is not indexed")
  func largeField() throws {
    var encoder = FieldEncoder()
    let field = HTTPField(name: try name("x-a"), value: String(repeating: "x", count: 3000))
    #expect(try form(field, &encoder) == .literal)
    #expect(encoder.tableCount == 1)
  }

  @Test("Strings are Huffman-coded only if the coded string is shorter")
  func huffman() throws {
    var encoder = FieldEncoder()
    let block = String(
      decoding: try encoder.block(request(path: "/&<>^|{}~", fields: [try name("x-a"): "aaaaaaaa"])), as: UTF8.self)
    #expect(block.contains("/&<>^|{}~") && !block.contains("aaaaaaaa"))
  }

  @Test("The encoder applies the server's table size and signals the change only in the next field block")
  func tableSizes() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    let head = request(fields: [.accept: "*/*"])
    let lines = try decoder.lines(encoder.block(head))
    let changes: [(sizes: [UInt32], start: [UInt8], entries: Int)] = [
      ([4096], [], 2), ([.max], [], 2), ([0], [0x20], 0), ([0], [], 0), ([65_536], [0x3F, 0xE1, 0x1F], 2),
      ([0, 4096], [0x20, 0x3F, 0xE1, 0x1F], 2),
      // Several changes: the field block signals the smallest size and the last size.
      ([1000, 64, 500, 232], [0x3F, 0x21, 0x3F, 0xC9, 0x01], 2),
      // Decreasing sizes: the field block signals only the last size, which is also the smallest.
      ([200, 100], [0x3F, 0x45], 2), ([80], [0x3F, 0x31], 1), ([70, 80], [0x3F, 0x27, 0x3F, 0x31], 1),
    ]
    for change in changes {
      for size in change.sizes { encoder.limitTable(to: size) }
      let block = try encoder.block(head)
      #expect(Array(block.prefix(change.start.count)) == change.start, "\(change)")
      #expect(Form(block[change.start.count]) != .tableSize, "\(change)")
      #expect(try decoder.lines(block) == lines)
      #expect(encoder.tableCount == change.entries && decoder.tableCount == change.entries, "\(change)")
      let next = try encoder.block(head)
      #expect(Form(next[0]) != .tableSize)
      #expect(try decoder.lines(next) == lines)
    }
  }

  @Test(
    "A request with a field that only the transport may set is refused",
    arguments: [
      "Host", "content-length", "Transfer-Encoding", "CONNECTION", "Keep-Alive", "Upgrade", "Trailer",
      "Proxy-Connection",
    ])
  func reserved(text: String) throws {
    var encoder = FieldEncoder()
    let name = try name(text)
    #expect { try encoder.block(request(fields: [name: "x"])) } throws: {
      ($0 as? FramingError)?.kind == .invalidField
    }
    if ["host", "content-length", "transfer-encoding"].contains(name.canonicalName) {
      #expect(throws: FramingError.self) { try encoder.block(request(), adding: [name: "x"]) }
    } else {
      // The encoder omits connection-specific fields that the transport adds.
      var decoder = FieldDecoder()
      #expect(try decoder.lines(encoder.block(request(), adding: [name: "x"])).count == 4)
    }
  }

  @Test("The TE field is accepted only with the value trailers")
  func transferCodings() throws {
    var encoder = FieldEncoder()
    var decoder = FieldDecoder()
    #expect(try decoder.lines(encoder.block(request(fields: [.te: "trailers"]))).last == "te: trailers")
    #expect(throws: FramingError.self) { try encoder.block(request(fields: [.te: "gzip"])) }
    #expect(throws: FramingError.self) { try encoder.block(request(fields: [.te: "trailers, deflate"])) }
  }

  @Test(
    "A request with a missing or malformed scheme or authority, or a malformed path, is refused",
    arguments: [
      request(path: "/a b"), request(path: "/é"), request(path: "/a#b"), request(path: "a"), request(path: "*"),
      request(path: "/a\0b"), request(scheme: nil), request(scheme: ""), request(scheme: "ht tp"),
      request(authority: nil), request(authority: ""), request(authority: "user@h"), request(authority: "a b"),
      request(authority: "h/x"),
    ])
  func targets(head: HTTPRequest) {
    var encoder = FieldEncoder()
    #expect { try encoder.block(head) } throws: { ($0 as? FramingError)?.kind == .invalidTarget }
  }

  @Test("A refused request head leaves the buffer and the dynamic table unchanged")
  func refused() throws {
    var encoder = FieldEncoder()
    let fields = HTTPFields([
      HTTPField(name: .accept, value: "*/*"), HTTPField(name: try name("x-a"), lenientValue: Array("a\u{1}b".utf8)),
    ])
    var buffer = ByteBuffer(string: "before")
    #expect(throws: FramingError.self) {
      try encoder.encode(request(fields: fields), adding: [:], framing: .none, into: &buffer)
    }
    #expect(String(buffer: buffer) == "before" && encoder.tableCount == 0)
    var decoder = FieldDecoder()
    #expect(try decoder.lines(encoder.block(request(fields: [.accept: "*/*"]))).count == 5)
  }

  @Test("Every name of the static table is found at its first index, and other names have no index")
  func names() {
    var indices: Set<UInt8> = []
    for (offset, field) in StaticFields.list.enumerated() {
      let found = find(field.name)
      indices.insert(found.index)
      #expect(StaticFields.list[Int(found.index) - 1].name == field.name && Int(found.index) <= offset + 1)
    }
    #expect(indices.count == Set(StaticFields.list.map(\.name)).count)
    for other in ["", "a", "x-a", "accepts", "Accept", ":paths"] {
      #expect(find(other) == SentNames.Name(index: 0, rule: .indexed))
    }
  }

  private func find(_ name: String) -> SentNames.Name {
    Array(name.utf8).withUnsafeBytes { SentNames.shared.find($0, hash: FieldHash.of($0)) }
  }
}
