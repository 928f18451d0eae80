import TestSupport
import Testing

@testable import ApusNIO

/// Hostile heads and chunks, within permissive limits: the decoder's work per byte must not grow with the input, in one
/// piece or in many.
@Suite("Decoding time", .serialized)
struct ParserTimeFuzzTests {
  /// The start of a response, and the unit that is repeated after it.
  static let hostile = [
    ("HTTP/1.1 200 ", "x"), ("HTTP/1.1 200 ", " "), ("HTTP/1.1 200 ", "\u{E9}"), ("HTTP/1.1 200 OK\r\nX: ", " "),
    ("HTTP/1.1 200 OK\r\nX: ", "a"), ("HTTP/1.1 200 OK\r\n", "x"), ("HTTP/1.1 200 OK\r\n", ":"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: ", ","), ("HTTP/1.1 200 OK\r\nTransfer-Encoding: ", "chunked, "),
    ("HTTP/1.1 200 OK\r\nContent-Length: ", "1, "), ("HTTP/1.1 200 OK\r\nConnection: ", "a,"),
    ("", "HTTP/1.1 103 A\r\n\r\n"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y"), ("HTTP/1.1 200 OK\r\n\r\n", "a"),
    ("", "\r"),
  ]

  @Test("Decoding time is linear, for input in one piece and in many", arguments: hostile, [Int.max, 1000])
  func linear(input: (start: String, piece: String), size: Int) {
    var limits = FramingLimits()
    (limits.fieldBytes, limits.interimCount, limits.chunkLineBytes) = (4 << 20, 1 << 20, 4 << 20)
    limits.chunkOverhead = 4 << 20
    let make: (Int) -> [UInt8] = { Array(LinearTime.repeating(input.piece, after: input.start)($0).utf8) }
    #expect(
      LinearTime.holds(for: make) { bytes in
        let cuts = size == .max ? [] : Array(stride(from: size, to: bytes.count, by: size))
        _ = Decoded(bytes, limits: limits, cuts: cuts, end: .clean)
      })
  }
}
