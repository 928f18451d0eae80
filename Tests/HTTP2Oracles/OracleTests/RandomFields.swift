import ApusTesting
import HTTPTypes

@testable import ApusNIO

/// The bytes above 127 in random values.
enum ValueBytes: Sendable {
  /// Complete UTF-8 characters: NIOHPACK replaces all others.
  case utf8
  case any
}

extension SeededGenerator {
  // Values are copied from long texts: in a debug build that is much faster than one random number for each byte.
  private static let visible = text(in: 0x21...0x7E)
  /// Text whose characters have short Huffman codes.
  private static let letters = text(in: 0x61...0x63)

  private static func text(in range: ClosedRange<UInt8>) -> [UInt8] {
    var random = SeededGenerator(seed: 0)
    return random.bytes(20_000, in: range)
  }

  /// Returns a value without white space at its ends: empty, short, or longer than the dynamic table.
  mutating func value(_ bytes: ValueBytes) -> [UInt8] {
    let length = isOne(in: 40) ? pick([126, 300, 1500, 5000]) : pick([0, 1, 5, 20, 60, 127, 128])
    let start = number(0...Self.visible.count - length)
    var value = Array((isOne(in: 2) ? Self.letters : Self.visible)[start..<start + length])
    guard length > 2, isOne(in: 4) else { return value }
    let middle = length / 2
    switch bytes {
    case _ where isOne(in: 3): value[middle] = pick([0x20, 0x09])
    case .utf8: value.replaceSubrange(middle...middle, with: Array(pick(["é", "ß", "日", "😀"]).utf8))
    case .any: value[middle] = UInt8(number(0x80...0xFF))
    }
    return value
  }
}

/// A source of random requests of one connection.
struct RandomRequests {
  struct Request {
    let head: HTTPRequest
    let adding: HTTPFields
    let framing: RequestFraming
    /// The fields that a decoder must return.
    let lines: [FieldLine]
  }

  private static let names = [
    "accept", "accept-encoding", "authorization", "content-type", "cookie", "idempotency-key", "if-none-match",
    "proxy-authorization", "range", "traceparent", "user-agent", "x-api-key", "X-Custom", "a",
    "x-a-rather-long-name-of-a-field-that-does-not-fit-into-many-small-tables",
  ]
  private static let sensitive: Set = ["authorization", "proxy-authorization", "x-api-key", "x-amz-security-token"]
  private static let transport: HTTPFields = [.acceptEncoding: "gzip, deflate", .userAgent: "Apus/1.0"]

  var random: SeededGenerator
  private let bytes: ValueBytes
  /// Fields of earlier requests, which can be in the dynamic table.
  private var known: [HTTPField] = []

  init(seed: UInt64, _ bytes: ValueBytes) {
    random = SeededGenerator(seed: seed)
    self.bytes = bytes
  }

  mutating func next() -> Request {
    let method = random.pick(["GET", "GET", "POST", "PUT", "PATCH", "QUERY", "CONNECT"])
    let scheme = random.pick(["https", "https", "http", "coap"])
    let authority = "h\(random.number(0...5)).example:8443"
    let path = random.pick(["/", "/index.html", "/" + String(repeating: "p", count: random.number(0...200)), "/?q=%20"])
    let count = random.isOne(in: 100) ? 100 : random.number(0...9)
    let fields = (0..<count).map { _ in field() }
    let adding = random.isOne(in: 2) ? Self.transport : [:]
    let framing = random.isOne(in: 2) ? RequestFraming.length(Int64(random.number(0...1 << 40))) : .none

    var head = HTTPRequest(
      method: HTTPRequest.Method(method) ?? .get, scheme: scheme, authority: authority, path: path)
    for field in fields { head.headerFields.append(field) }
    var lines = [FieldLine(":method", method)]
    if method != "CONNECT" { lines += [FieldLine(":scheme", scheme), FieldLine(":path", path)] }
    lines.append(FieldLine(":authority", authority))
    lines += (fields + adding).map { Self.line($0) }
    if case .length(let length) = framing { lines.append(FieldLine("content-length", "\(length)")) }
    return Request(head: head, adding: adding, framing: framing, lines: lines)
  }

  private mutating func field() -> HTTPField {
    if known.count > 5, random.isOne(in: 2) { return random.pick(known) }
    let name = random.isOne(in: 3) ? "x-\(random.number(0...30))" : random.pick(Self.names)
    let value = name == "accept-encoding" && random.isOne(in: 2) ? Array("gzip, deflate".utf8) : random.value(bytes)
    var field = HTTPField(name: HTTPField.Name(name) ?? .accept, value: value)
    field.indexingStrategy = random.pick([.automatic, .automatic, .automatic, .avoid, .disallow, .prefer])
    known.append(field)
    if known.count > 40 { known.removeFirst() }
    return field
  }

  /// Returns the line of a field, with the rules of ``IndexingRule`` for secrets.
  private static func line(_ field: HTTPField) -> FieldLine {
    var line = FieldLine(field)
    let name = field.name.canonicalName
    line.isSensitive =
      field.indexingStrategy == .disallow || sensitive.contains(name) || (name == "cookie" && line.value.count < 20)
    return line
  }
}

/// A source of random responses of one connection.
struct RandomResponses {
  private static let names = [
    "date", "server", "content-type", "etag", "vary", "set-cookie", "cache-control", "location", "a",
    "x-a-rather-long-name-of-a-field-that-does-not-fit-into-many-small-tables",
  ]

  var random: SeededGenerator
  private let bytes: ValueBytes
  private var known: [FieldLine] = []

  init(seed: UInt64, _ bytes: ValueBytes) {
    random = SeededGenerator(seed: seed)
    self.bytes = bytes
  }

  mutating func next() -> [FieldLine] {
    let count = random.isOne(in: 100) ? 100 : random.number(0...12)
    return [FieldLine(":status", random.pick(["200", "204", "299", "304", "404", "500"]))]
      + (0..<count).map { _ in field() }
  }

  /// Returns fields without pseudo-header fields.
  mutating func trailers() -> [FieldLine] { (0..<random.number(1...3)).map { _ in field() } }

  private mutating func field() -> FieldLine {
    if known.count > 5, random.isOne(in: 2) { return random.pick(known) }
    let name = random.isOne(in: 3) ? "x-\(random.number(0...30))" : random.pick(Self.names)
    let line = FieldLine(name.utf8, random.value(bytes), isSensitive: random.isOne(in: 8))
    known.append(line)
    if known.count > 40 { known.removeFirst() }
    return line
  }
}
