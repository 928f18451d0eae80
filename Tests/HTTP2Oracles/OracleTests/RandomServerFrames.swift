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
    let content =
      responses.random.bytes(responses.random.pick([0, 1, 9, 30]))
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
