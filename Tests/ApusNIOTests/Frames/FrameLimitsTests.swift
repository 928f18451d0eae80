import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Frame limits")
struct FrameLimitsTests {
  /// Frames without content, which a server could send at no cost (flood).
  static let idle = [
    frame(.ping, [0, 0, 0, 0, 0, 0, 0, 1]), frame(.ping, .acknowledgement, [0, 0, 0, 0, 0, 0, 0, 1]), frame(.settings),
    frame(.settings, .acknowledgement), frame(.priority, stream: 1, [0, 0, 0, 0, 0]),
    frame(.windowUpdate, [0, 0, 0, 1]), frame(.reset, stream: 1, [0, 0, 0, 8]),
    frame(.goAway, [0, 0, 0, 0, 0, 0, 0, 0]), frame(.data, stream: 1), frame(.data, .padded, stream: 1, [1, 0]),
    frame(FrameType(rawValue: 99)), frame(FrameType(rawValue: 10), Array("h2=\":443\"".utf8)),
  ]

  private func times(_ count: Int, _ frame: [UInt8]) -> [UInt8] { Array(repeatElement(frame, count: count).joined()) }

  @Test("More than 1,000 consecutive frames without content are a connection error", arguments: idle)
  func floods(frame: [UInt8]) {
    // The SETTINGS frame of the server's connection preface counts too.
    #expect(ReadFrames(times(999, frame)).violation == nil)
    let flood = ReadFrames(times(1000, frame))
    #expect(flood.violation == .flood(FrameType(rawValue: frame[3])))
    #expect(ReadFrames(times(100_000, frame)).violation == flood.violation)
  }

  @Test("A response head refills the flood budget completely, and each content byte adds one frame to the budget")
  func refills() {
    let ping = frame(.ping, [0, 0, 0, 0, 0, 0, 0, 1])
    let head = frame(.headers, .endHeaders, stream: 1, [0x88])
    #expect(ReadFrames(times(999, ping) + head + times(1000, ping)).violation == nil)
    #expect(ReadFrames(times(999, ping) + head + times(1001, ping)).violation == .flood(.ping))
    let content = frame(.data, stream: 1, [UInt8](repeating: 0, count: 10))
    #expect(ReadFrames(times(999, ping) + content + times(10, ping)).violation == nil)
    #expect(ReadFrames(times(999, ping) + content + times(11, ping)).violation == .flood(.ping))
    let large = frame(.data, stream: 1, [UInt8](repeating: 0, count: 9999))
    #expect(ReadFrames(times(999, ping) + large + times(1000, ping)).violation == nil)
    #expect(ReadFrames(times(999, ping) + large + times(1001, ping)).violation == .flood(.ping))
    #expect(ReadFrames(times(5000, ping + frame(.data, stream: 1, [0]))).violation == nil)
  }

  @Test("Sent content and awaited frames refill the flood budget")
  func outbound() throws {
    var reader = FrameReader()
    func read(_ count: Int) throws {
      var buffer = ByteBuffer(bytes: times(count, frame(.windowUpdate, [0, 0, 0, 1])))
      while try reader.next(from: &buffer) != nil {}
    }
    var preface = ByteBuffer(bytes: ReadFrames.preface)
    _ = try reader.next(from: &preface)
    reader.contentWasSent(.max)
    try read(1000)
    reader.contentWasSent(3)
    reader.contentWasSent(-1)
    try read(3)
    for _ in 0..<5000 {
      reader.frameWasAwaited()
      try read(1)
    }
    #expect(throws: FrameViolation.flood(.windowUpdate)) { try read(1) }
  }

  @Test("A field block with more than 32 CONTINUATION frames is a connection error")
  func continuations() {
    func block(_ count: Int) -> [UInt8] {
      frame(.headers, stream: 1, [0x88]) + times(count - 1, frame(.continuation, stream: 1, literal("a", "b")))
        + frame(.continuation, .endHeaders, stream: 1, literal("a", "b"))
    }
    #expect(ReadFrames(block(32)).events == ["head 1 200" + String(repeating: " a=b", count: 32)])
    #expect(ReadFrames(block(33)).violation == .tooManyContinuations(1))
    #expect(ReadFrames(block(32) + block(32)).events.count == 2)
  }

  @Test("A compressed field block larger than 256 KiB is a connection error")
  func blockBytes() {
    let part = [UInt8](repeating: 0x88, count: 16_384)
    let start = frame(.headers, stream: 1, part) + times(14, frame(.continuation, stream: 1, part))
    let right = ReadFrames(start + frame(.continuation, .endHeaders, stream: 1, part))
    #expect(right.violation == nil && right.events.first?.hasPrefix("malformed 1") == true)
    #expect(
      ReadFrames(start + frame(.continuation, stream: 1, part) + frame(.continuation, stream: 1, [0x88])).violation
        == .blockTooLarge(1))
    var limits = FrameReader.Limits()
    limits.blockBytes = 3
    #expect(ReadFrames(frame(.headers, .endHeaders, stream: 1, [0x88, 0x90, 0x90]), limits: limits).violation == nil)
    #expect(
      ReadFrames(frame(.headers, stream: 1, [0x88, 0x90, 0x90, 0x90]), limits: limits).violation == .blockTooLarge(1))
    #expect(
      ReadFrames(
        frame(.headers, stream: 1, [0x88, 0x90]) + frame(.continuation, stream: 1, [0x88, 0x90]), limits: limits
      ).violation == .blockTooLarge(1))
  }

  @Test("A header list that exceeds the limits is a stream error and does not affect other streams")
  func fields() {
    var limits = FrameReader.Limits()
    limits.framing.fieldCount = 2
    let large = frame(.headers, .endHeaders, stream: 1, [0x88] + literal("a", "b") + literal("c", "d", pattern: 0x40))
    let next = frame(.headers, .endHeaders, stream: 3, [0x88, 0xBE])
    #expect(
      ReadFrames(large + next, limits: limits).events == [
        "malformed 1: the response has too many fields, on stream 1", "head 3 200 c=d",
      ])
  }
}
