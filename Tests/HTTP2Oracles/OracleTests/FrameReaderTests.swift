import ApusTesting
import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import ApusNIO

@Suite("Frames of servers: comparison with swift-nio-http2")
struct FrameReaderTests {
  static let parts = Rounds.parts

  /// Returns the frames that ``FrameReader`` reports for pieces that end at `cuts`.
  private func ours(_ bytes: [UInt8], cuts: [Int]) -> (seen: SeenFrames, violation: FrameViolation?) {
    var (reader, buffer, seen, start) = (FrameReader(), ByteBuffer(), SeenFrames(), 0)
    do throws(FrameViolation) {
      for cut in cuts + [bytes.count] {
        buffer.writeBytes(bytes[start..<cut])
        start = cut
        while let event = try reader.next(from: &buffer) { seen.receive(event) }
      }
      return (seen, nil)
    } catch {
      seen.isRefused = true
      return (seen, error)
    }
  }

  /// Returns a client of NIOHTTP2 that has sent requests.
  private func client(requesting streams: [Int]) throws -> NIOConnection {
    let client = try NIOConnection(.client)
    for stream in streams {
      let fields: HPACKHeaders = [":method": "GET", ":scheme": "https", ":path": "/", ":authority": "a.example"]
      let head = HTTP2Frame.FramePayload.Headers(headers: fields, endStream: true)
      try client.send(HTTP2Frame(streamID: HTTP2StreamID(stream), payload: .headers(head)))
    }
    return client
  }

  @Test("The frame reader and NIOHTTP2 read the same frames of a server", arguments: 0..<parts)
  func valid(part: UInt64) throws {
    for seed in Rounds.seeds(part, count: Rounds.sequences) {
      var source = RandomServerFrames(seed: seed)
      for _ in 0..<Rounds.sequenceFrames { try source.next() }
      let client = try client(requesting: source.streams)
      try client.receive(source.bytes, cuts: source.cuts())
      let (seen, violation) = ours(source.bytes, cuts: source.cuts())
      guard seen == client.seen, !seen.isRefused else {
        let errors = "\(violation.map { "\($0)" } ?? ""), \(client.errors)"
        Issue.record("seed \(seed), \(seen.difference(from: client.seen)): \(errors)")
        return
      }
    }
  }

  @Test("The frame reader and NIOHTTP2 refuse the same frames", arguments: FrameBreach.all)
  func refused(breach: FrameBreach) throws {
    for seed in 0..<UInt64(max(4, Rounds.sequences / 500)) {
      var source = RandomServerFrames(seed: seed)
      let client = try client(requesting: source.streams)
      source.write(breach)
      try client.receive(source.bytes, cuts: source.cuts())
      let (seen, _) = ours(source.bytes, cuts: source.cuts())
      #expect(seen.isRefused && client.seen.isRefused, "seed \(seed): \(seen), but \(client.seen)")
    }
  }
}
