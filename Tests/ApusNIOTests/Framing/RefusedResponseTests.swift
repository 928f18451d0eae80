import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

/// A response and the rule that it breaks.
struct Refused: Sendable, CustomTestStringConvertible {
  var bytes: [UInt8]
  var kind: FramingError.Kind
  var limits = FramingLimits()
  var end = Decoded.End.open

  init(_ text: String, _ kind: FramingError.Kind, limits: FramingLimits = FramingLimits(), end: Decoded.End = .open) {
    self.bytes = Array(text.utf8)
    self.kind = kind
    self.limits = limits
    self.end = end
  }

  var testDescription: String { "\(kind): \(String(decoding: bytes.prefix(120), as: UTF8.self).debugDescription)" }

  static func limits(_ change: (inout FramingLimits) -> Void) -> FramingLimits {
    var limits = FramingLimits()
    change(&limits)
    return limits
  }
}

@Suite("Refused responses")
struct RefusedResponseTests {
  static let statusLines = [
    "HTTP/1.1\r\n", "HTTP/1.1 \r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 2x0 OK\r\n",
    "HTTP/1.1 099 OK\r\n", "HTTP/1.1 -20 OK\r\n", "HTTP/1.1  200 OK\r\n", "HTTP/1.1\t200 OK\r\n",
    "HTTP/1.1 200\tOK\r\n", "HTTP/1.1 200OK\r\n", "HTTP/11 200 OK\r\n", "HTTP/1.10 200 OK\r\n", "HTTP/1. 200 OK\r\n",
    "HTTP 200 OK\r\n", "http/1.1 200 OK\r\n", " HTTP/1.1 200 OK\r\n", "\r\nHTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 O\0K\r\n",
    "HTTP/1.1 200 O\rK\r\n", "ICY 200 OK\r\n", "SSH-2.0-x\r\n", "<html>", "HTTP/x.1 200 OK\r\n",
    "HTTP/1,1 200 OK\r\n",
  ].map { Refused($0 + "\r\n", .malformedStatusLine) }

  static let fieldLines: [Refused] = [
    Refused("HTTP/2.0 200 OK\r\n\r\n", .unsupportedVersion),
    Refused("HTTP/0.9 200 OK\r\n\r\n", .unsupportedVersion),
    Refused("HTTP/1.1 200 OK\n\r\n", .malformedLineEnd),
    Refused("HTTP/1.1 200 OK\r\nA: b\n\r\n", .malformedLineEnd),
    Refused("HTTP/1.1 200 OK\r\nA: b\r\n\n", .malformedLineEnd),
    Refused(answer("A: b\rc"), .malformedFieldValue),
    Refused(answer("A: b\0c"), .malformedFieldValue),
    Refused(answer("A: b\u{1}"), .malformedFieldValue),
    Refused(answer("A: \u{7F}"), .malformedFieldValue),
    Refused(answer("A: b\r"), .malformedFieldValue),
    Refused(answer("no colon"), .spaceBeforeColon),
    Refused(answer("nocolon"), .malformedFieldName),
    Refused(answer(": value"), .malformedFieldName),
    Refused(answer("na\u{e9}me: value"), .malformedFieldName),
    Refused(answer("a(b): value"), .malformedFieldName),
    Refused(answer(":status: 200"), .malformedFieldName),
    Refused(answer("name : value"), .spaceBeforeColon),
    Refused(answer("name\t: value"), .spaceBeforeColon),
    Refused(answer("a: b", " folded"), .foldedField),
    Refused(answer(" a: b"), .foldedField),
    Refused(answer("\tb"), .foldedField),
  ]

  static let framings: [Refused] =
    [
      "", "-1", "+5", "0x5", "5 5", "5;5", "5,", ",5", "5,,5", "five", "5.0", "9223372036854775808",
      "99999999999999999999999", "\u{666}",
    ].map { Refused(answer("Content-Length: \($0)"), .malformedContentLength) } + [
      Refused(answer("Content-Length: 5, 6"), .conflictingContentLength),
      Refused(answer("Content-Length: 5", "Content-Length: 6"), .conflictingContentLength),
      Refused(answer("Content-Length: 5", "Content-Length: x"), .malformedContentLength),
      Refused(answer("Content-Length: 5", "Transfer-Encoding: chunked"), .lengthAndTransferEncoding),
      Refused(answer("Transfer-Encoding: chunked", "Content-Length: 0"), .lengthAndTransferEncoding),
    ]
    + [
      "", "gzip", "identity", "gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked,", "chunked;a=b",
      "xchunked",
      "chunked x", "chunke", "\u{b}chunked", "\"chunked\"",
    ].map {
      Refused(
        answer("Transfer-Encoding: \($0)"), $0.contains("\u{b}") ? .malformedFieldValue : .malformedTransferEncoding)
    } + [
      Refused(answer("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), .malformedTransferEncoding),
      Refused(answer("Transfer-Encoding: gzip", "Transfer-Encoding: chunked"), .malformedTransferEncoding),
      Refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .malformedTransferEncoding),
      Refused("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", .unexpectedUpgrade),
    ]

  static let chunks: [Refused] =
    [
      "\r\n", "x\r\n", "0x5\r\n", "-5\r\n", "+5\r\n", " 5\r\n", "5 \r\n", "5\t\r\n", "5 5\r\n", "g\r\n",
      "8000000000000000\r\n", "ffffffffffffffff\r\n", "00000000000000005\r\n", "10000000000000000\r\n", "5\r\r\n",
      "5,a\r\n",
    ].map { Refused(chunked($0), .malformedChunkSize) }
    + [
      "5;\r\n", "5;;a\r\n", "5;a=\r\n", "5;=b\r\n", "5;a b\r\n", "5;a=\"b\r\n", "5;a=\"b\"c\r\n", "5;a=\0\r\n",
      "5;a=\"\u{1}\"\r\n", "5;a=\"b\\\r\n", "5;a\r;b\r\n", "5;a \r\n",
    ].map { Refused(chunked($0), .malformedChunkExtension) } + [
      Refused(chunked("5\nhello"), .malformedLineEnd),
      Refused(chunked("5;a\nhello"), .malformedLineEnd),
      Refused(chunked("5\r\nhelloX\r\n"), .malformedChunkEnd),
      Refused(chunked("5\r\nhello\n0\r\n\r\n"), .malformedChunkEnd),
      Refused(chunked("5\r\nhello\rX"), .malformedChunkEnd),
      Refused(chunked("5\r\nhello!\r\n"), .malformedChunkEnd),
      Refused(chunked("5\r\nhell\r\n0\r\n"), .malformedChunkEnd),
      Refused(chunked("0\r\nA: b\n\r\n"), .malformedLineEnd),
      Refused(chunked("0\r\n folded\r\n\r\n"), .foldedField),
      Refused(chunked("0\r\nnocolon\r\n\r\n"), .malformedFieldName),
      Refused(chunked("0\r\nA: \0\r\n\r\n"), .malformedFieldValue),
    ]

  static let floods: [Refused] = [
    Refused(answer("A: " + String(repeating: "x", count: 300 << 10)), .fieldsTooLarge),
    Refused("HTTP/1.1 200 " + String(repeating: "x", count: 300 << 10), .fieldsTooLarge),
    Refused("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 1001), .tooManyFields),
    Refused(
      "HTTP/1.1 200 OK\r\n" + String(repeating: "a: \(String(repeating: "x", count: 997))\r\n", count: 300),
      .fieldsTooLarge),
    Refused(chunked("0\r\n" + String(repeating: "a: b\r\n", count: 1000)), .tooManyFields),
    Refused(chunked("0\r\na: " + String(repeating: "x", count: 300 << 10)), .fieldsTooLarge),
    Refused(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 65), .tooManyInterimResponses),
    Refused(
      String(repeating: "HTTP/1.1 103 Hints\r\n" + String(repeating: "Link: x\r\n", count: 100) + "\r\n", count: 11),
      .tooManyFields),
    Refused(chunked("1;" + String(repeating: "x", count: 5000)), .chunkExtensionsTooLarge),
    Refused(
      chunked(String(repeating: "1;\(String(repeating: "x", count: 200))\r\na\r\n", count: 100)),
      .chunkExtensionsTooLarge),
    Refused(
      answer("A: bcdefghijk"), .fieldsTooLarge, limits: Refused.limits { $0.fieldBytes = 28 }),
  ]

  static let cuts: [Refused] = [
    Refused("", .noResponse, end: .clean),
    Refused("", .noResponse, end: .unclean),
    Refused("H", .truncated, end: .clean),
    Refused("HTTP/1.1 200 OK\r\n", .truncated, end: .clean),
    Refused("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", .truncated, end: .clean),
    Refused("HTTP/1.1 100 Continue\r\n\r\n", .truncated, end: .clean),
    Refused(answer("Content-Length: 5"), .truncated, end: .clean),
    Refused(answer("Content-Length: 5", content: "hell"), .truncated, end: .clean),
    Refused(chunked(""), .truncated, end: .clean),
    Refused(chunked("5"), .truncated, end: .clean),
    Refused(chunked("5\r\n"), .truncated, end: .clean),
    Refused(chunked("5\r\nhell"), .truncated, end: .clean),
    Refused(chunked("5\r\nhello"), .truncated, end: .clean),
    Refused(chunked("5\r\nhello\r\n"), .truncated, end: .clean),
    Refused(chunked("5\r\nhello\r\n0\r\n"), .truncated, end: .clean),
    Refused(chunked("5\r\nhello\r\n0\r\nA: b\r\n"), .truncated, end: .clean),
    Refused(answer(content: "something"), .uncleanEnd, end: .unclean),
    Refused(answer(), .uncleanEnd, end: .unclean),
  ]

  @Test(
    "A malformed response is refused for the rule that it breaks, however the input is split",
    arguments: statusLines + fieldLines + framings + chunks + cuts)
  func refused(_ example: Refused) {
    let bytes = example.bytes
    let whole = Decoded(bytes, limits: example.limits, end: example.end)
    #expect(whole.error == example.kind)
    #expect(!whole.isComplete)
    #expect(Decoded(bytes, limits: example.limits, cuts: Array(0..<bytes.count), end: example.end) == whole)
    for cut in bytes.indices {
      #expect(Decoded(bytes, limits: example.limits, cuts: [cut], end: example.end) == whole)
    }
  }

  @Test("A response that exceeds a limit is refused at that limit, in one piece or in many", arguments: floods)
  func flood(_ example: Refused) {
    let bytes = example.bytes
    let whole = Decoded(bytes, limits: example.limits)
    #expect(whole.error == example.kind)
    let cuts = Array(stride(from: 0, to: bytes.count, by: 777))
    #expect(Decoded(bytes, limits: example.limits, cuts: cuts) == whole)
  }

  @Test("A response just within the limits is decoded")
  func withinLimits() {
    let fields = String(repeating: "a: b\r\n", count: 999) + "Content-Length: 0\r\n"
    #expect(Decoded("HTTP/1.1 200 OK\r\n" + fields + "\r\n").isComplete)
    let interim = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 64)
    #expect(Decoded(interim + answer("Content-Length: 0")).isComplete)
    let bytes = answer("A: bcdefghijk")
    #expect(Decoded(bytes, limits: Refused.limits { $0.fieldBytes = bytes.utf8.count }).status == 200)
    let signed = String(repeating: "64;sign=\(String(repeating: "f", count: 64))\r\n", count: 1)
    let chunk = signed + String(repeating: "x", count: 100) + "\r\n"
    #expect(Decoded(chunked(String(repeating: chunk, count: 2000) + "0\r\n\r\n")).isComplete)
  }

  @Test("After an error the decoder refuses all further input")
  func staysRefused() {
    var decoder = ResponseDecoder()
    decoder.expectResponse(to: .get)
    #expect(throws: FramingError.self) { try decoder.endOfInput(cleanly: true) }
    #expect(throws: FramingError.self) { try decoder.endOfInput(cleanly: true) }
  }

  @Test("A framing error contains neither field values nor content")
  func errorsAreSilent() {
    let secret = "hunter2"
    for line in [
      "Set-Cookie: \(secret)\0", "Content-Length: \(secret)", "Transfer-Encoding: \(secret)", "\(secret) x",
    ] {
      var decoder = ResponseDecoder()
      decoder.expectResponse(to: .get)
      var buffer = ByteBuffer(string: answer(line))
      #expect { try decoder.next(from: &buffer) } throws: { !"\($0)".contains(secret) }
    }
  }
}
