import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Frame writer")
struct FrameWriterTests {
  private func written(_ write: (inout FrameWriter) throws -> Void) rethrows -> [UInt8] {
    var writer = FrameWriter()
    writer.buffer.writeString("before")
    try write(&writer)
    #expect(writer.buffer.readString(length: 6) == "before")
    return Array(writer.buffer.readableBytesView)
  }

  @Test("The connection preface contains the client magic, SETTINGS and, for a larger window, WINDOW_UPDATE")
  func preface() {
    let bytes = written {
      $0.writePreface(
        settings: [Setting(.enablePush, 0), Setting(.initialWindowSize, 1 << 20)], windowIncrement: 0x1234)
    }
    let magic = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    #expect(
      bytes == magic + frame(.settings, [0, 2, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0])
        + frame(.windowUpdate, [0, 0, 0x12, 0x34]))
    #expect(written { $0.writePreface(settings: [], windowIncrement: 0) } == magic + frame(.settings))
  }

  @Test("Written frames have the layout of RFC 9113")
  func layouts() {
    #expect(
      written { $0.writeContentHeader(0x7FFF_FFFF, count: 0x4000, isLast: true) }
        == [0, 0x40, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF])
    #expect(written { $0.writeContentHeader(1, count: 0, isLast: false) } == frame(.data, stream: 1))
    #expect(written { $0.writeReset(5, .cancel) } == [0, 0, 4, 3, 0, 0, 0, 0, 5, 0, 0, 0, 8])
    #expect(
      written { $0.writeWindowUpdate(3, increment: 0x7FFF_FFFF) } == [
        0, 0, 4, 8, 0, 0, 0, 0, 3, 0x7F, 0xFF, 0xFF, 0xFF,
      ])
    #expect(
      written { $0.writePing(0x0102_0304_0506_0708, isAcknowledgement: true) }
        == [0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    #expect(written { $0.writePing(1, isAcknowledgement: false) } == frame(.ping, [0, 0, 0, 0, 0, 0, 0, 1]))
    #expect(written { $0.writeSettingsAcknowledgement() } == [0, 0, 0, 4, 1, 0, 0, 0, 0])
    #expect(
      written { $0.writeGoAway(.protocolError, debug: "why") }
        == frame(.goAway, [0, 0, 0, 0, 0, 0, 0, 1] + Array("why".utf8)))
    #expect(
      written { $0.writeGoAway(.noError, debug: String(repeating: "x", count: 5000)) }.count
        == FrameHeader.size + 8 + 1024)
  }

  @Test("A short request head is written as one HEADERS frame, with or without END_STREAM", arguments: [true, false])
  func head(isLast: Bool) throws {
    var encoder = FieldEncoder()
    let bytes = try written { writer in
      try writer.writeHead(1, isLast: isLast) { buffer throws(FramingError) in
        try encoder.encode(request(), adding: [:], framing: .none, into: &buffer)
      }
    }
    var other = FieldEncoder()
    let flags: FrameFlags = isLast ? [.endHeaders, .endStream] : .endHeaders
    #expect(try bytes == frame(.headers, flags, stream: 1, other.block(request())))
  }

  @Test(
    "A field block above the server's maximum frame size continues in CONTINUATION frames", arguments: [0, 1, 2, 3, 17])
  func continuations(excess: Int) throws {
    var writer = FrameWriter()
    writer.maximumFrameSize = 1000
    let block = (0..<3000 + excess).map { UInt8(truncatingIfNeeded: $0) }
    try writer.writeHead(7, isLast: true) { buffer throws(FramingError) in buffer.writeBytes(block) }
    var expected = frame(.headers, .endStream, stream: 7, Array(block[..<1000]))
    expected += frame(.continuation, stream: 7, Array(block[1000..<2000]))
    expected += frame(.continuation, excess == 0 ? .endHeaders : [], stream: 7, Array(block[2000..<3000]))
    if excess > 0 { expected += frame(.continuation, .endHeaders, stream: 7, Array(block[3000...])) }
    #expect(Array(writer.buffer.readableBytesView) == expected)
  }

  @Test("A refused request head adds no frame to the buffer")
  func refused() {
    var writer = FrameWriter()
    var encoder = FieldEncoder()
    writer.writePing(1, isAcknowledgement: false)
    #expect(throws: FramingError.self) {
      try writer.writeHead(1, isLast: true) { buffer throws(FramingError) in
        try encoder.encode(request(path: "/ /"), adding: [:], framing: .none, into: &buffer)
      }
    }
    #expect(Array(writer.buffer.readableBytesView) == frame(.ping, [0, 0, 0, 0, 0, 0, 0, 1]))
  }

  @Test("The frame reader reads the frames that the frame writer writes")
  func roundTrip() throws {
    var writer = FrameWriter()
    writer.maximumFrameSize = 5
    try writer.writeHead(1, isLast: false) { buffer throws(FramingError) in
      buffer.writeBytes([0x88] + literal("name", "value"))
    }
    writer.writeContentHeader(1, count: 5, isLast: true)
    writer.buffer.writeString("hello")
    writer.writeReset(3, .refusedStream)
    writer.writeSettingsAcknowledgement()
    writer.writeGoAway(.enhanceYourCalm, debug: "calm")
    #expect(
      ReadFrames(Array(writer.buffer.readableBytesView)).events == [
        "head 1 200 name=value", "content 1 5+0 last", "reset 3 REFUSED_STREAM (0x7)", "settings acknowledged",
        "go away 0 ENHANCE_YOUR_CALM (0xb) calm",
      ])
  }
}
