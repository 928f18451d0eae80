import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

/// Frames of a server, and the events that the reader must return for these frames.
struct ReadableFrames: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let events: [String]

  init(_ name: String, _ frames: [UInt8]..., events: [String]) {
    (self.name, self.bytes, self.events) = (name, Array(frames.joined()), events)
  }

  var testDescription: String { name }
}

@Suite("Frame reader")
struct FrameReaderTests {
  static let word: [UInt8] = [0, 0, 0, 7]

  static let examples = [
    ReadableFrames(
      "a head", frame(.headers, .endHeaders, stream: 1, [0x88] + literal("a", "b")), events: ["head 1 200 a=b"]),
    ReadableFrames(
      "a head that ends the stream", frame(.headers, [.endHeaders, .endStream], stream: 3, [0x8D]),
      events: ["head 3 404 last"]),
    ReadableFrames(
      "a padded head with a priority",
      frame(.headers, [.endHeaders, .padded, .priority], stream: 1, [3, 0x80, 0, 0, 9, 255, 0x88, 0, 0, 0]),
      events: ["head 1 200"]),
    ReadableFrames(
      "a head in three frames", frame(.headers, .endStream, stream: 1, [0x88, 0x00]),
      frame(.continuation, stream: 1, string("a")), frame(.continuation, .endHeaders, stream: 1, string("b")),
      events: ["head 1 200 a=b last"]),
    ReadableFrames(
      "a head without a byte in its first frame", frame(.headers, stream: 1),
      frame(.continuation, .endHeaders, stream: 1, [0x88]), events: ["head 1 200"]),
    ReadableFrames(
      "heads that share the table", frame(.headers, .endHeaders, stream: 1, [0x88] + literal("a", "b", pattern: 0x40)),
      frame(.headers, .endHeaders, stream: 5, [0x88, 0xBE]), events: ["head 1 200 a=b", "head 5 200 a=b"]),
    ReadableFrames(
      "a malformed head, whose fields enter the table",
      frame(.headers, .endHeaders, stream: 1, [0x88] + literal("X", "b") + literal("a", "b", pattern: 0x40)),
      frame(.headers, [.endHeaders, .endStream], stream: 5, [0x88, 0xBE]),
      events: ["malformed 1: a field's name has an upper-case letter, on stream 1", "head 5 200 a=b last"]),
    ReadableFrames(
      "trailers", frame(.headers, [.endHeaders, .endStream], stream: 1, literal("a", "b")),
      events: ["head 1 trailers a=b last"]),
    ReadableFrames(
      "content", frame(.data, stream: 1, Array("hello".utf8)),
      frame(.data, .endStream, stream: 1, Array("world".utf8)), events: ["content 1 10+0 last"]),
    ReadableFrames(
      "padded content", frame(.data, .padded, stream: 1, [3] + Array("hello".utf8) + [0, 0, 0]),
      events: ["content 1 5+4"]),
    ReadableFrames(
      "padding without content", frame(.data, [.padded, .endStream], stream: 1, [2, 0, 0]),
      frame(.data, .padded, stream: 3, [0]), events: ["content 1 0+3 last", "content 3 0+1"]),
    ReadableFrames(
      "empty content", frame(.data, stream: 1), frame(.data, .endStream, stream: 1), events: ["content 1 0+0 last"]),
    ReadableFrames(
      "content of two streams", frame(.data, stream: 1, [1, 2]), frame(.data, .endStream, stream: 3, [3]),
      frame(.data, .endStream, stream: 1, [4]), events: ["content 3 1+0 last", "content 1 1+0 last"]),
    ReadableFrames(
      "resets", frame(.reset, stream: 7, [0, 0, 0, 8]), frame(.reset, stream: 9, [1, 2, 3, 4]),
      events: ["reset 7 CANCEL (0x8)", "reset 9 0x1020304"]),
    ReadableFrames(
      "settings", frame(.settings, [0, 3, 0, 0, 0, 100, 0, 99, 1, 0, 0, 0]), frame(.settings),
      frame(.settings, .acknowledgement),
      events: [
        "settings SETTINGS_MAX_CONCURRENT_STREAMS=100 the unknown setting 99=16777216", "settings",
        "settings acknowledged",
      ]),
    ReadableFrames(
      "pings", frame(.ping, [0, 0, 0, 0, 0, 0, 1, 0]), frame(.ping, .acknowledgement, [0, 0, 0, 0, 0, 0, 0, 9]),
      events: ["ping 256", "ping 9 ack"]),
    ReadableFrames(
      "the end of the connection",
      frame(.goAway, [0x80, 0, 0, 5, 0, 0, 0, 11] + Array("calm\u{1B}[31m\r\n\u{7F}é".utf8)),
      frame(.goAway, [0x7F, 255, 255, 255, 0, 0, 0, 0]),
      events: ["go away 5 ENHANCE_YOUR_CALM (0xb) calm?[31m?????", "go away 2147483647 NO_ERROR (0x0) "]),
    ReadableFrames(
      "windows", frame(.windowUpdate, word), frame(.windowUpdate, stream: 1, [0x80, 0, 0, 0]),
      frame(.windowUpdate, stream: 1, [255, 255, 255, 255]),
      events: ["window 0 7", "window 1 0", "window 1 2147483647"]),
    ReadableFrames(
      "ignored frames", frame(.priority, stream: 1, [0, 0, 0, 0, 0]), frame(.priority, stream: 2, [0, 0, 0, 0, 0]),
      frame(FrameType(rawValue: 10), [0, 0]), frame(FrameType(rawValue: 12), Array("origin".utf8)),
      frame(FrameType(rawValue: 16), [1, 2, 3, 4, 5]), frame(FrameType(rawValue: 255), stream: 8), events: []),
    ReadableFrames(
      "a priority of the wrong length", frame(.priority, stream: 5, word), frame(.priority, stream: 5),
      events: ["malformed 5: PRIORITY of stream 5 has 4 bytes", "malformed 5: PRIORITY of stream 5 has 0 bytes"]),
    ReadableFrames(
      "unknown flags and reserved bits", frame(.ping, FrameFlags(rawValue: 0xFE), [0, 0, 0, 0, 0, 0, 0, 1]),
      [0, 0, 4, 3, 0xFF, 0x80, 0, 0, 1, 0, 0, 0, 0], events: ["ping 1", "reset 1 NO_ERROR (0x0)"]),
  ]

  @Test("Frames produce the expected events regardless of how the input is split", arguments: examples)
  func frames(_ example: ReadableFrames) {
    let whole = ReadFrames(example.bytes)
    #expect(whole.events == example.events && whole.violation == nil && whole.rest == 0)
    #expect(ReadFrames(example.bytes, cuts: Array(0..<example.bytes.count)) == whole)
    for cut in example.bytes.indices { #expect(ReadFrames(example.bytes, cuts: [cut]) == whole) }
  }

  @Test("Content is delivered as it arrives, and padding is reported at the end of its DATA frame")
  func pieces() throws {
    var reader = FrameReader()
    var buffer = ByteBuffer(bytes: ReadFrames.preface)
    _ = try reader.next(from: &buffer)
    func next(_ bytes: [UInt8]) throws -> String? {
      buffer.writeBytes(bytes)
      guard case .content(1, let content, let padding, let isLast) = try reader.next(from: &buffer) else { return nil }
      return "\(String(buffer: content))+\(padding)\(isLast ? " last" : "")"
    }
    let bytes = frame(.data, [.padded, .endStream], stream: 1, [3] + Array("hello".utf8) + [0, 0, 0])
    #expect(try next(Array(bytes[..<10])) == nil)
    #expect(try next(Array(bytes[10..<12])) == "he+0")
    #expect(try next([]) == nil)
    #expect(try next(Array(bytes[12..<16])) == "llo+0")
    #expect(try next(Array(bytes[16..<17])) == nil)
    #expect(try next(Array(bytes[17...])) == "+4 last")
    #expect(try next(frame(.data, stream: 1, Array("whole".utf8))) == "whole+0")
  }

  @Test("Content is a slice of the input buffer, not a copy")
  func slices() throws {
    var reader = FrameReader()
    var buffer = ByteBuffer(bytes: ReadFrames.preface + frame(.data, stream: 1, Array("hello".utf8)))
    _ = try reader.next(from: &buffer)
    let start = buffer.withUnsafeReadableBytes { $0.baseAddress.map { $0 + FrameHeader.size } }
    guard case .content(_, let content, _, _) = try reader.next(from: &buffer) else {
      Issue.record("no content")
      return
    }
    #expect(content.withUnsafeReadableBytes { $0.baseAddress } == start)
  }

  @Test("The reader accepts frames of the maximum length")
  func longFrames() {
    let large = [UInt8](repeating: 0, count: FrameReader.maximumFrameSize)
    #expect(ReadFrames(frame(.data, .endStream, stream: 1, large)).events == ["content 1 16384+0 last"])
    #expect(ReadFrames(frame(.goAway, large)).events.count == 1)
    #expect(ReadFrames(frame(FrameType(rawValue: 77), large) + frame(.settings)).events == ["settings"])
    let settings = frame(.settings, Array(large.prefix(16380)))
    #expect(ReadFrames(settings).events.first?.hasPrefix("settings the unknown setting 0=0") == true)
  }

  @Test("The debug data of GOAWAY is truncated to 256 bytes")
  func debugData() {
    let events = ReadFrames(frame(.goAway, [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0x61, count: 9999)))
      .events
    #expect(events == ["go away 0 NO_ERROR (0x0) " + String(repeating: "a", count: 256)])
  }

  @Test("An incomplete frame header or payload stays in the buffer")
  func incomplete() {
    let bytes = frame(.ping, [0, 0, 0, 0, 0, 0, 0, 1])
    #expect(ReadFrames(Array(bytes.prefix(8))).rest == 8)
    #expect(ReadFrames(Array(bytes.prefix(16))).rest == 7)
  }
}
