import ApusTesting
import HTTPTypes
import NIOCore
import NIOHTTP2
import Testing

@testable import ApusNIO

@Suite("Frames of the client: comparison with swift-nio-http2")
struct FrameWriterTests {
  static let parts = Rounds.parts

  @Test("NIOHTTP2 reads every frame that the frame writer writes", arguments: 0..<parts)
  func written(part: UInt64) throws {
    for seed in Rounds.seeds(part, count: Rounds.sequences) {
      var client = try RandomClientFrames(seed: seed)
      for _ in 0..<Rounds.sequenceFrames { try client.next() }
      try client.end()
      guard client.server.seen == client.expected else {
        let seen = client.server.seen
        Issue.record("seed \(seed), \(seen.difference(from: client.expected)): \(client.server.errors)")
        return
      }
    }
  }
}

/// A client that sends random frames to a server of NIOHTTP2.
private struct RandomClientFrames {
  let server: NIOConnection
  /// The frames that the server must report.
  private(set) var expected = SeenFrames()
  private var writer = FrameWriter()
  private var encoder = FieldEncoder()
  private var requests: RandomRequests
  private var nextStream = 1
  /// The streams of unfinished requests, and all streams that were not reset.
  private var (unfinished, known) = ([Int](), [Int]())

  init(seed: UInt64) throws {
    server = try NIOConnection(.server)
    requests = RandomRequests(seed: seed, .utf8)
    writer.maximumFrameSize = requests.random.pick([16_384, 16_384, 100, 7])
    let settings = [
      Setting(.enablePush, 0), Setting(.initialWindowSize, 1 << 20), Setting(.maximumFieldBytes, 1 << 18),
    ]
    let increment: UInt32 = requests.random.pick([0, 1, 16 << 20])
    writer.writePreface(settings: settings, windowIncrement: increment)
    expected.add(.settings(settings.map { HTTP2Setting($0) }))
    if increment > 0 { expected.add(.windowUpdate(0, Int(increment))) }
    acknowledge()
    try flush()
  }

  private mutating func acknowledge() {
    writer.writeSettingsAcknowledgement()
    expected.add(.settingsAcknowledged)
  }

  /// Sends the written frames in random pieces.
  private mutating func flush() throws {
    let bytes = Array(writer.buffer.readableBytesView)
    writer.buffer.clear()
    try server.receive(bytes, cuts: requests.random.cuts(bytes.count))
  }

  mutating func next() throws {
    switch requests.random.number(0...9) {
    case 0...2: try open()
    case 3 where !unfinished.isEmpty, 4 where !unfinished.isEmpty: writeContent()
    case 5 where !known.isEmpty: reset()
    case 6:
      let stream = known.isEmpty || requests.random.isOne(in: 2) ? 0 : requests.random.pick(known)
      let increment = requests.random.number(1...5000)
      writer.writeWindowUpdate(StreamID(stream), increment: UInt32(increment))
      expected.add(.windowUpdate(stream, increment))
    case 7: try changeTableSize()
    default:
      let (data, isAcknowledgement) = (requests.random.next(), requests.random.isOne(in: 2))
      writer.writePing(data, isAcknowledgement: isAcknowledgement)
      expected.add(.ping(data, isAcknowledgement: isAcknowledgement))
    }
    if requests.random.isOne(in: 3) { try flush() }
  }

  mutating func end() throws {
    let debug = requests.random.pick(["", "too many resets"])
    writer.writeGoAway(.enhanceYourCalm, debug: debug)
    expected.add(.goAway(last: 0, 11, debug: debug))
    try flush()
  }

  private mutating func open() throws {
    let (request, stream, isLast) = (requests.next(), nextStream, requests.random.isOne(in: 2))
    try writer.writeHead(StreamID(stream), isLast: isLast) { buffer throws(FramingError) in
      try encoder.encode(request.head, adding: request.adding, framing: request.framing, into: &buffer)
    }
    expected.add(.head(stream, request.lines.map(\.plain), isLast: isLast))
    known.append(stream)
    if !isLast { unfinished.append(stream) }
    nextStream += 2
  }

  private mutating func writeContent() {
    let (stream, isLast) = (requests.random.pick(unfinished), requests.random.isOne(in: 3))
    let bytes = requests.random.bytes(requests.random.pick([0, 1, 40]))
    writer.writeContentHeader(StreamID(stream), count: bytes.count, isLast: isLast)
    writer.buffer.writeBytes(bytes)
    expected.add(.content(stream, bytes, padding: 0, isLast: isLast))
    if isLast { unfinished.removeAll { $0 == stream } }
  }

  private mutating func reset() {
    let stream = requests.random.pick(known)
    writer.writeReset(StreamID(stream), .cancel)
    expected.add(.reset(stream, 8))
    known.removeAll { $0 == stream }
    unfinished.removeAll { $0 == stream }
  }

  /// The server changes the size of the table with which it decodes requests.
  private mutating func changeTableSize() throws {
    let size = requests.random.pick([0, 64, 4096, requests.random.number(0...6000)])
    try server.send(
      HTTP2Frame(
        streamID: .rootStream,
        payload: .settings(.settings([HTTP2Setting(parameter: .headerTableSize, value: size)]))))
    encoder.limitTable(to: UInt32(size))
    acknowledge()
  }
}
