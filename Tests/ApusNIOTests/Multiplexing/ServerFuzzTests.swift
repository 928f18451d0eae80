import ApusCore
import HTTPTypes
import NIOCore
import TestSupport
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// Calls servers that send random frames. A failure message contains the seed that reproduces the failure.
///
/// `APUS_FUZZ` sets the number of servers.
@Suite("Fuzz: servers of HTTP/2", .timeLimit(.minutes(60)))
struct ServerFuzzTests {
  private static let rounds = fuzzRounds(usually: 400)
  /// The shards of the rounds, run in parallel.
  private static let parts = 4

  @Test("Calls to a server that sends random frames end, and a later call succeeds", arguments: 0..<parts)
  func frames(part: Int) async throws {
    for seed in stride(from: part, to: Self.rounds, by: Self.parts) {
      var server = RandomServer(seed: UInt64(seed))
      let (script, calls) = (server.script(), server.calls())
      try await FrameServer.with([script]) { server in
        let ends = try await Self.ends(of: calls, server)
        let timeouts = ends.count { $0.isTimeout }
        #expect(timeouts == 0, "seed \(seed)")
        try await server.waitUntilClosed()
        let posts = server.received.flatMap(\.requests).filter { !$0.isRefused && $0.method == "POST" }
        #expect(posts.count <= calls.count { $0.method == .post }, "seed \(seed)")
        #expect(server.received.flatMap(\.violations).isEmpty, "seed \(seed)")
      }
    }
  }

  /// Makes the calls together and returns their ends. Afterwards, a call on a new connection must succeed.
  private static func ends(of calls: [HostileCall], _ server: FrameServer) async throws -> [CallEnd] {
    try await NIOTransport.with {
      $0.protocols = [.http2]
      // The server ends its connection, so a call that reaches this limit hangs.
      ($0.firstByteTimeout, $0.stallTimeout) = (.seconds(600), .seconds(600))
    } body: { transport in
      let client = try makeClient("http://127.0.0.1:\(server.port)", transport)
      let ends = try await withThrowingTaskGroup { group in
        for call in calls { group.addTask { try await call.end(client, server) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      // The client may not have noticed yet that the connection of the random frames has ended.
      try await server.wait(for: .goAway)
      _ = await failure { try await client.send(message(.get, "/next")) }
      let next = try await client.send(message(.get, "/next")).string
      #expect(next == "next")
      return ends
    }
  }
}

extension CallEnd {
  fileprivate var isTimeout: Bool {
    if case .failure(let error) = self { error.code == .timeout } else { false }
  }
}

/// A server that sends random frames, most of them valid, and then closes its connection.
private struct RandomServer {
  private var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  private mutating func oneOf<Value>(_ values: [Value], or usual: Value) -> Value {
    values.randomElement(using: &random) ?? usual
  }

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  mutating func calls() -> [HostileCall] {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in
      oneOf([.get, .streamed, .head, .post(1000), .post(200_000), .stream(20, of: 5000)], or: .get)
    }
  }

  mutating func script() -> Script {
    var steps: [Step] = chance(8) ? [] : [.settings()]
    if !chance(4) { steps.append(.await(.head(1))) }
    for _ in 0..<Int.random(in: 1...14, using: &random) { steps.append(step()) }
    steps.append(oneOf([.close, .close, .abort], or: .close))
    var script = Script(steps)
    // The steps play the streams of all calls.
    script.lastStream = 9
    (script.credits, script.acknowledges) = (!chance(3), !chance(3))
    return script
  }

  private mutating func step() -> Step {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) { bytes += randomFrame() }
    if chance(6) { bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random) }
    return chance(12) ? .sendBytewise(bytes) : .send(bytes)
  }

  private mutating func randomFrame() -> [UInt8] {
    let stream: StreamID = oneOf([1, 1, 1, 3, 5, 0, 2, 7, 4001], or: 1)
    let status = oneOf([200, 200, 204, 103, 100, 304, 421, 503, 99], or: 200)
    let fields: Fields = chance(4) ? ["content-length": "5"] : ["x-a": "b"]
    let flags: FrameFlags = oneOf([.endHeaders, [.endHeaders, .endStream], .endStream, []], or: .endHeaders)
    let window = UInt32(oneOf([0, 1, 16_384, 65_535, 1 << 20, Int(Int32.max)], or: 1))
    let code = UInt32.random(in: 0...14, using: &random)
    switch Int.random(in: 0..<16, using: &random) {
    case 0, 1: return frame(.headers, flags, stream: stream, headBlock(status, fields))
    case 2: return frame(.headers, flags, stream: stream, fieldBlock(fields))
    case 3: return responseFrames(stream)
    case 4, 5: return frame(.data, chance(3) ? .endStream : [], stream: stream, Array("hello".utf8))
    case 6: return frame(.data, .padded, stream: stream, padded(Array("hello".utf8), 9))
    case 7: return frame(.windowUpdate, stream: chance(2) ? 0 : stream, bytes(window))
    case 8: return frame(.reset, stream: stream, bytes(code))
    case 9: return frame(.ping, chance(2) ? .acknowledgement : [], bytes(UInt64(code)))
    case 10: return frame(.goAway, bytes(oneOf([stream, .max >> 1], or: 1)) + bytes(code))
    case 11: return frame(.settings, chance(4) ? .acknowledgement : [])
    case 12, 13:
      return frame(.settings, bytes(UInt16.random(in: 1...8, using: &random)) + bytes(window))
    case 14: return frame(.continuation, flags, stream: stream, headBlock(status, fields))
    default:
      let payload = (0..<Int.random(in: 0...30, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      return frame(
        FrameType(rawValue: .random(in: 0...12, using: &random)), flags, stream: stream, payload)
    }
  }
}
