import HTTPTypes
import Testing

@testable import ApusNIO

/// A field block and the HTTP rule that the block breaks.
struct FaultyBlock: Sendable, CustomTestStringConvertible {
  let rule: FieldFault.Rule
  let block: [UInt8]
  var isTrailers = false

  init(_ rule: FieldFault.Rule, _ block: [UInt8]..., isTrailers: Bool = false) {
    (self.rule, self.block, self.isTrailers) = (rule, Array(block.joined()), isTrailers)
  }

  var testDescription: String { "\(rule): \(String(decoding: block.prefix(80), as: UTF8.self).debugDescription)" }
}

@Suite("Field blocks")
struct FieldBlockTests {
  static let ok: [UInt8] = [0x88]

  static let names: [FaultyBlock] =
    ["Server", "x-A", "CONTENT-LENGTH", "aZ"].map { FaultyBlock(.upperCaseName, ok, literal($0, "1")) }
    + ["", "a b", "a\u{0}", "é", "a:b", "a\r\nb", "a(b)", " a", "a\t", "\u{7F}"].map {
      FaultyBlock(.malformedName, ok, literal($0, "1"))
    }
    + [":", ":a b", ":Status", ":é"].map { FaultyBlock(.malformedName, literal($0, "200")) }
    + [
      "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ].map { FaultyBlock(.connectionField, ok, literal($0, "x")) }
    + ["", "gzip", "trailers, gzip"].map { FaultyBlock(.connectionField, ok, literal("te", $0)) }
    + [
      // `transfer-encoding` of the static table.
      FaultyBlock(.connectionField, ok, [0x0F, 0x2A], string("chunked"))
    ]

  static let values: [FaultyBlock] = [
    "a\u{0}", "\u{0}", "a\rb", "a\nb", "\u{7F}", "\u{1}", " a", "a ", "\ta", "a\t", " ",
  ].map { FaultyBlock(.malformedValue, ok, literal("a", $0)) }

  static let pseudoFields: [FaultyBlock] = [
    FaultyBlock(.unknownPseudoField, ok, literal(":other", "1")),
    FaultyBlock(.unknownPseudoField, ok, [0x82]),
    FaultyBlock(.unknownPseudoField, [0x84], ok),
    FaultyBlock(.unknownPseudoField, literal(":authority", "a"), ok),
    FaultyBlock(.unknownPseudoField, literal(":path", "/"), isTrailers: true),
    FaultyBlock(.repeatedPseudoField, ok, ok),
    FaultyBlock(.repeatedPseudoField, ok, [0x8D]),
    FaultyBlock(.latePseudoField, literal("a", "b"), ok),
    FaultyBlock(.latePseudoField, ok, literal("a", "b"), ok),
    FaultyBlock(.latePseudoField, literal("a", "b"), ok, isTrailers: true),
    FaultyBlock(.pseudoFieldInTrailers, ok, isTrailers: true),
    FaultyBlock(.pseudoFieldInTrailers, ok, literal("a", "b"), isTrailers: true),
    FaultyBlock(.missingStatus),
    FaultyBlock(.missingStatus, literal("a", "b")),
    FaultyBlock(.switchingProtocols, [0x08], string("101")),
    FaultyBlock(.malformedValue, [0x08], string(" 200")),
  ]

  static let statuses: [FaultyBlock] = ["", "2", "20", "2000", "099", "000", "2x0", "-20", "+20", "20.", "0200", "２００"]
    .map { FaultyBlock(.malformedStatus, [0x08], string($0)) }

  static let lengths: [FaultyBlock] =
    ["", "-1", "+1", "1 1", "0x1", "1,", ",1", "five", "9223372036854775808", "1, x"].map {
      FaultyBlock(.malformedContentLength, ok, literal("content-length", $0))
    } + [
      FaultyBlock(.conflictingContentLength, ok, literal("content-length", "1"), literal("content-length", "2")),
      FaultyBlock(.conflictingContentLength, ok, literal("content-length", "1, 2")),
    ]

  @Test(
    "A field block that breaks an HTTP rule is malformed, but later fields still enter the dynamic table",
    arguments: names + values + pseudoFields + statuses + lengths)
  func faulty(_ example: FaultyBlock) throws {
    var decoder = FieldDecoder()
    let block = try decoder.block(example.block + literal("last", "one", pattern: 0x40))
    let fault = #expect(throws: FieldFault.self) {
      try example.isTrailers ? block.trailers() : block.head().headerFields
    }
    #expect(fault?.rule == example.rule && fault?.code == .protocolError)
    #expect(try decoder.block([0x88, 0xBE]).head().headerFields.first?.value == "one")
  }

  @Test("A field block that reuses the malformed name or value of a dynamic table entry is malformed")
  func faultyEntries() throws {
    var decoder = FieldDecoder()
    let indexed =
      literal("Upper", "v", pattern: 0x40) + literal("a", "\u{0}", pattern: 0x40)
      + literal("connection", "v", pattern: 0x40)
    #expect(try decoder.block(indexed).fault?.rule == .upperCaseName)
    #expect(decoder.tableCount == 3 && decoder.tableSize == 38 + 34 + 43)
    #expect(try decoder.block([0x88, 0xBE]).fault == FieldFault(.connectionField, "connection"))
    #expect(try decoder.block([0x88, 0xBF]).fault == FieldFault(.malformedValue, "a"))
    #expect(try decoder.block([0x88, 0xC0]).fault?.rule == .upperCaseName)
    // References to the names of the entries, with a valid value. Only the value of `a` was malformed, not its name.
    #expect(try decoder.block([0x88, 0x0F, 0x2F] + string("x")).fault?.rule == .connectionField)
    #expect(try decoder.block([0x88, 0x0F, 0x30] + string("x")).head().headerFields.first?.value == "x")
    #expect(try decoder.block([0x88, 0x0F, 0x31] + string("x")).fault?.rule == .upperCaseName)
    // The length of a malformed name counts towards the size of the dynamic table.
    _ = try decoder.block([0x7F, 0x01] + string("x"))
    #expect(decoder.tableSize == 38 + 34 + 43 + 38)
  }

  @Test("A response head contains the status and the fields in their order")
  func head() throws {
    var decoder = FieldDecoder()
    let block = try decoder.block(
      [0x8D] + literal("x", "1") + literal("set-cookie", "a") + literal("content-length", "5")
        + literal("set-cookie", "b") + literal("te", "trailers") + literal("empty", ""))
    let head = try block.head()
    #expect(head.status == 404)
    #expect(
      head.headerFields.map { "\($0.name.rawName)=\($0.value)" } == [
        "x=1", "set-cookie=a", "content-length=5", "set-cookie=b", "te=trailers", "empty=",
      ])
    #expect(block.contentLength == 5 && block.count == 7)
    for code in ["100", "103", "200", "599", "999"] {
      #expect(try decoder.block([0x08] + string(code)).head().status.code == Int(code))
    }
  }

  @Test("Trailers contain regular fields only and may be empty")
  func trailers() throws {
    var decoder = FieldDecoder()
    #expect(try decoder.block(literal("a", "b")).trailers().first?.value == "b")
    #expect(try decoder.block([]).trailers().isEmpty)
  }

  @Test("Equal Content-Length values are accepted and merged into one field", arguments: ["5, 5", "5,5 ,05"])
  func equalLengths(list: String) throws {
    var decoder = FieldDecoder()
    let block = try decoder.block(
      [0x88] + literal("content-length", list) + literal("content-length", "5") + literal("content-length", "5,5"))
    #expect(block.contentLength == 5)
    #expect(try block.head().headerFields[values: .contentLength] == ["5"])
  }

  @Test("A field block that exceeds the limits is malformed, but is still decoded to its end")
  func limits() throws {
    var limits = FramingLimits()
    limits.fieldCount = 3
    var decoder = FieldDecoder()
    let field = literal("a", "b")
    #expect(try decoder.block([0x88] + field + field, limits: limits).fault == nil)
    let many = try decoder.block([0x88] + field + field + field + literal("z", "y", pattern: 0x40), limits: limits)
    #expect(many.fault?.rule == .tooManyFields && many.fault?.code == .enhanceYourCalm)
    #expect(decoder.tableCount == 1)
    limits = FramingLimits()
    // `:status: 200` counts 42 bytes, `a: b` 34.
    limits.fieldBytes = 42 + 34
    #expect(try decoder.block([0x88] + field, limits: limits).fault == nil)
    #expect(try decoder.block([0x88] + field, limits: limits).size == 76)
    #expect(try decoder.block([0x88] + literal("a", "bc"), limits: limits).fault?.rule == .fieldsTooLarge)
    #expect(try decoder.block([0x88] + field + field, limits: limits).fault?.rule == .fieldsTooLarge)
  }

  @Test("The limits stop the expansion of a small field block into a huge header list (HPACK bomb)")
  func bomb() throws {
    var decoder = FieldDecoder()
    _ = try decoder.block([0x88] + literal("a", String(repeating: "x", count: 4000), pattern: 0x40))
    let block = try decoder.block([0x88] + [UInt8](repeating: 0xBE, count: 200 << 10))
    #expect(block.fault?.rule == .fieldsTooLarge)
    #expect(block.count < 100)
    let small = try decoder.block([0x88] + [UInt8](repeating: 0x90, count: 200 << 10))
    #expect(small.fault?.rule == .tooManyFields)
  }

  @Test("The description of a malformed field contains no field value and no malformed name")
  func descriptions() throws {
    var decoder = FieldDecoder()
    for block in [
      literal("a", "hunter2\u{0}"), literal("hunter2\u{0}", "x"), literal("Hunter2", "x"), literal("te", "hunter2"),
      literal("content-length", "hunter2"), literal(":status", "hunter2"),
    ] {
      let fault = try #require(try decoder.block(block).fault)
      #expect(!"\(fault)".lowercased().contains("hunter2"))
    }
    #expect("\(FieldFault(.connectionField, "upgrade"))".contains("upgrade"))
    #expect(FieldFault(.malformedValue, String(repeating: "x", count: 1000)).name.utf8.count == 64)
    #expect(Set(FieldFault.Rule.allCases.map { "\(FieldFault($0, "x"))" }).count == FieldFault.Rule.allCases.count)
  }
}
