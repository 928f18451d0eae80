import ApusTesting
import NIOCore
import NIOHPACK

@testable import ApusNIO

/// A source of the frames of a server: valid frames for streams that the client has opened with complete requests.
///
/// The bytes are written without ``FrameWriter`` and ``FieldEncoder``.
struct RandomServerFrames {
  private enum Stage {
    /// No final head was sent.
    case head
    case content
    case ended
  }

  /// The frames after the server's preface: an empty SETTINGS frame and the acknowledgement of the client's settings.
  private(set) var bytes: [UInt8] = []
  /// The streams that the client opens.
  let streams: [Int]
  private var responses: RandomResponses
  private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
  private var stages: [Int: Stage] = [:]
  /// After GOAWAY no stream ends: NIOHTTP2 refuses frames for a connection without streams.
  private var isLeaving = false

  init(seed: UInt64) {
    responses = RandomResponses(seed: seed, .utf8)
    streams = (0..<responses.random.number(1...4)).map { 2 * $0 + 1 }
    for stream in streams { stages[stream] = .head }
    write(4)
    write(4, flags: 1)
  }

  /// Returns positions at which the frames are cut.
  mutating func cuts() -> [Int] { responses.random.cuts(bytes.count) }

  /// Writes a valid frame, or a field block of several frames.
  mutating func next() throws {
    let open = streams.filter { stages[$0] != .ended }
    guard !open.isEmpty, !responses.random.isOne(in: 3) else { return writeConnectionFrame(open) }
    let stream = responses.random.pick(open)
    switch stages[stream] {
    case .head where responses.random.isOne(in: 4): try writeHead(stream, [FieldLine(":status", "103")], isLast: false)
    case .head:
      let isLast = endsStream()
      try writeHead(stream, responses.next(), isLast: isLast)
      stages[stream] = isLast ? .ended : .content
    case .content where !isLeaving && responses.random.isOne(in: 8):
      try writeHead(stream, responses.trailers(), isLast: true)
      stages[stream] = .ended
    default: writeContent(stream)
    }
    if !isLeaving, stages[stream] != .ended, responses.random.isOne(in: 15) {
      write(3, stream: stream, Self.word(responses.random.pick([0, 7, 8, 0x1234_5678])))
      stages[stream] = .ended
    }
  }

  private mutating func endsStream() -> Bool { !isLeaving && responses.random.isOne(in: 6) }

  mutating func write(_ type: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) {
    let length = payload.count
    bytes += [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
    // The first bit is reserved and ignored.
    bytes += Self.word(stream | (responses.random.isOne(in: 20) ? 1 << 31 : 0)) + payload
  }

  static func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 0xFF) } }
}

// MARK: Frames of streams

extension RandomServerFrames {
  private mutating func writeHead(_ stream: Int, _ lines: [FieldLine], isLast: Bool) throws {
    let pieces = pieces(try encoder.block(lines, &responses.random))
    for (index, piece) in pieces.enumerated() {
      var (payload, flags) = (Array(piece), UInt8(index == pieces.count - 1 ? 4 : 0))
      if index == 0 {
        if isLast { flags |= 1 }
        (payload, flags) = decorated(payload, flags, stream)
      }
      write(index == 0 ? 1 : 9, flags: flags, stream: stream, payload)
    }
  }

  /// Returns the parts of a field block for HEADERS and CONTINUATION frames.
  private mutating func pieces(_ block: [UInt8]) -> [ArraySlice<UInt8>] {
    var (pieces, rest) = ([ArraySlice<UInt8>](), block[...])
    let isSplit = responses.random.isOne(in: 3)
    repeat {
      let count = isSplit && pieces.count < 5 ? responses.random.pick([0, 1, 10, 1000]) : 16_000
      pieces.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    } while !rest.isEmpty
    return pieces
  }

  /// Returns the payload of a HEADERS frame, perhaps with priority and padding.
  private mutating func decorated(_ payload: [UInt8], _ flags: UInt8, _ stream: Int) -> ([UInt8], UInt8) {
    var (payload, flags) = (payload, flags)
    if responses.random.isOne(in: 4) {
      payload = Self.word(stream + 2 | (responses.random.isOne(in: 2) ? 1 << 31 : 0)) + [16] + payload
      flags |= 0x20
    }
    return responses.random.isOne(in: 4) ? (padded(payload), flags | 8) : (payload, flags)
  }

  private mutating func padded(_ payload: [UInt8]) -> [UInt8] {
    let count = responses.random.pick([0, 1, 200, 255])
    return [UInt8(count)] + payload + [UInt8](repeating: 0, count: count)
  }

  private mutating func writeContent(_ stream: Int) {
    let content = responses.random.bytes(responses.random.pick([0, 1, 9, 30]))
      + [UInt8](repeating: 7, count: responses.random.isOne(in: 10) ? 16_000 : 0)
    let isLast = endsStream()
    let isPadded = responses.random.isOne(in: 3)
    write(
      0, flags: (isLast ? 1 : 0) | (isPadded ? 8 : 0), stream: stream, isPadded ? padded(content) : content)
    if isLast { stages[stream] = .ended }
  }
}

// MARK: Frames of the connection

extension RandomServerFrames {
  private mutating func writeConnectionFrame(_ open: [Int]) {
    switch responses.random.number(0...9) {
    case 0, 1: write(4, settings())
    case 2, 3: write(6, flags: UInt8(responses.random.number(0...1)), responses.random.bytes(8))
    case 4, 5:
      let stream = responses.random.isOne(in: 2) ? 0 : open.first ?? 0
      write(8, stream: stream, Self.word(responses.random.number(1...5000)))
    case 6: write(2, stream: responses.random.number(1...9), Self.word(11) + [1])
    case 7 where !open.isEmpty:
      isLeaving = true
      let last = streams.last ?? 0
      let debug = responses.random.isOne(in: 2) ? Array("why \u{1B}[0m é".utf8) : responses.random.bytes(300)
      write(7, Self.word(last) + Self.word(responses.random.number(0...13)) + debug)
    default:
      // Extension frames, except ALTSVC and ORIGIN, which NIOHTTP2 reads (RFC 9113 §5.5).
      let type = UInt8(responses.random.pick([11, 13, 16, 99, 255]))
      write(
        type, flags: UInt8(responses.random.number(0...255)), stream: responses.random.number(0...5),
        responses.random.bytes(responses.random.number(0...20)))
    }
  }

  private mutating func settings() -> [UInt8] {
    (0..<responses.random.number(0...3)).flatMap { _ in
      let (identifier, value) = responses.random.pick([
        (1, responses.random.number(0...8192)), (3, responses.random.number(10...1000)),
        (4, responses.random.number(0...1 << 20)), (5, responses.random.number(1 << 14...1 << 24 - 1)),
        (6, responses.random.number(0...1 << 20)), (0x7F, 0xFFFF_FFFF),
      ])
      return [0, UInt8(identifier)] + Self.word(value)
    }
  }
}

// MARK: Violations

/// A frame that breaks a rule of RFC 9113 §4 to §6 or §8.4.
struct FrameBreach: Sendable, CustomStringConvertible {
  let description: String
  /// The frames: type, flags, stream and payload.
  let frames: [(type: UInt8, flags: UInt8, stream: Int, payload: [UInt8])]

  init(_ description: String, _ type: UInt8, flags: UInt8 = 0, on stream: Int = 0, _ payload: [UInt8] = []) {
    self.description = description
    frames = [(type, flags, stream, payload)]
  }

  /// HEADERS without END_HEADERS on stream 1, followed by a frame.
  init(afterHead description: String, _ type: UInt8, on stream: Int, _ payload: [UInt8]) {
    self.description = description
    frames = [(1, 0, 1, [0x88]), (type, 4, stream, payload)]
  }

  static let all = [
    FrameBreach("DATA on stream 0", 0, [1]), FrameBreach("HEADERS on stream 0", 1, flags: 4, [0x88]),
    FrameBreach("PRIORITY on stream 0", 2, [0, 0, 0, 3, 1]), FrameBreach("RST_STREAM on stream 0", 3, [0, 0, 0, 8]),
    FrameBreach("SETTINGS on stream 1", 4, on: 1), FrameBreach("PING on stream 1", 6, on: 1, [0, 1, 2, 3, 4, 5, 6, 7]),
    FrameBreach("GOAWAY on stream 1", 7, on: 1, [0, 0, 0, 0, 0, 0, 0, 0]),
    FrameBreach("WINDOW_UPDATE on stream 2", 8, on: 2, [0, 0, 0, 1]),
    FrameBreach("HEADERS on stream 2", 1, flags: 4, on: 2, [0x88]), FrameBreach("DATA on stream 2", 0, on: 2, [1]),
    FrameBreach("PRIORITY of four bytes", 2, on: 1, [0, 0, 0, 3]),
    FrameBreach("PRIORITY of six bytes", 2, on: 1, [0, 0, 0, 3, 1, 1]),
    FrameBreach("RST_STREAM of three bytes", 3, on: 1, [0, 0, 8]),
    FrameBreach("RST_STREAM of five bytes", 3, on: 1, [0, 0, 0, 0, 8]),
    FrameBreach("SETTINGS of five bytes", 4, [0, 4, 0, 0, 1]),
    FrameBreach("An acknowledgement of SETTINGS with a setting", 4, flags: 1, [0, 4, 0, 0, 0, 1]),
    FrameBreach("PING of seven bytes", 6, [0, 1, 2, 3, 4, 5, 6]),
    FrameBreach("PING of nine bytes", 6, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    FrameBreach("GOAWAY of seven bytes", 7, [0, 0, 0, 0, 0, 0, 0]),
    FrameBreach("WINDOW_UPDATE of three bytes", 8, [0, 0, 1]),
    FrameBreach("WINDOW_UPDATE of five bytes", 8, [0, 0, 0, 0, 1]),
    FrameBreach("DATA with padding, but without Pad Length", 0, flags: 8, on: 1),
    FrameBreach("HEADERS with padding, but without Pad Length", 1, flags: 12, on: 1),
    FrameBreach("DATA whose padding is as long as the payload", 0, flags: 8, on: 1, [4, 0, 0, 0]),
    FrameBreach("HEADERS whose padding is longer than the payload", 1, flags: 12, on: 1, [3, 0x88, 0]),
    FrameBreach("HEADERS whose padding covers the priority", 1, flags: 0x2C, on: 1, [1, 0, 0, 0, 3, 1]),
    FrameBreach("HEADERS with a short priority", 1, flags: 0x24, on: 1, [0, 0, 0, 3]),
    FrameBreach("CONTINUATION without HEADERS", 9, flags: 4, on: 1, [0x88]),
    FrameBreach("PUSH_PROMISE", 5, flags: 4, on: 1, [0, 0, 0, 2, 0x82]),
    FrameBreach("a frame above SETTINGS_MAX_FRAME_SIZE", 0, on: 1, [UInt8](repeating: 0, count: 16_385)),
    FrameBreach("an unknown frame above SETTINGS_MAX_FRAME_SIZE", 99, [UInt8](repeating: 0, count: 16_385)),
    FrameBreach("a field block with the index 0", 1, flags: 4, on: 1, [0x80]),
    FrameBreach("a field block that ends inside a field", 1, flags: 4, on: 1, [0x88, 0x40, 1]),
    FrameBreach("an upper-case field name", 1, flags: 4, on: 1, [0x88, 0, 1, 0x41, 1, 0x61]),
    FrameBreach("a connection-specific field", 1, flags: 4, on: 1, [0x88, 0x0F, 42, 1, 0x61]),
    FrameBreach("an unknown pseudo-header field", 1, flags: 4, on: 1, [0x88, 0, 2, 0x3A, 0x61, 1, 0x61]),
    FrameBreach("a pseudo-header field after a field", 1, flags: 4, on: 1, [0, 1, 0x61, 1, 0x61, 0x88]),
    FrameBreach("a second :status", 1, flags: 4, on: 1, [0x88, 0x88]),
    FrameBreach(afterHead: "PING inside a field block", 6, on: 0, [0, 1, 2, 3, 4, 5, 6, 7]),
    FrameBreach(afterHead: "CONTINUATION of another stream", 9, on: 3, [0x88]),
    FrameBreach(afterHead: "DATA inside a field block", 0, on: 1, [1]),
    FrameBreach(afterHead: "an unknown frame inside a field block", 99, on: 1, [1]),
  ]
}

extension RandomServerFrames {
  mutating func write(_ breach: FrameBreach) {
    for frame in breach.frames { write(frame.type, flags: frame.flags, stream: frame.stream, frame.payload) }
  }
}
