import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

/// Sends the byte streams of the decoder's fuzz tests to whole calls, over sockets.
@Suite("Fuzz: arbitrary bytes over a connection")
struct WireFuzzTests {
  /// One in twenty of the decoder's streams, because each needs a port.
  static let streams = min(
    5000, (ProcessInfo.processInfo.environment["APUS_STREAMS"].flatMap { UInt64($0) } ?? 8000) / 20)
  /// The shards of the streams, run in parallel.
  static let parts: UInt64 = 4

  @Test("Fuzzed responses end a call with the decoder's result, and the next call succeeds", arguments: 0..<Self.parts)
  func calls(part: UInt64) async throws {
    try await TestServer.with { request in
      let seed = request.path.split(separator: "/").last.flatMap { UInt64($0) }
      return seed.map { Reply(steps: [.raw(ResponseStream(seed: $0).bytes)]) } ?? .text("untouched")
    } body: { server in
      try await NIOTransport.with {
        // A stream may leave a reusable connection that the server then closes, so the next call may need to be resent.
        ($0.decompressesContent, $0.retriesOnStaleConnection) = (false, true)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        for seed in stride(from: part, to: Self.streams, by: Int(Self.parts)) {
          var stream = ResponseStream(seed: seed)
          // A call cannot send CONNECT, and without TLS every end is treated as clean.
          guard stream.method != .connect else { continue }
          stream.end = .clean
          await check(stream, by: client)
        }
        let next = try await client.send(message()).string
        #expect(next == "untouched")
      }
    }
  }

  private func check(_ stream: ResponseStream, by client: Client) async {
    let judged = Decoded(stream)
    do throws(CallError) {
      let response = try await client.response(to: message(stream.method, "/\(stream.seed)"))
      #expect(judged.isComplete, "seed \(stream.seed)")
      #expect(response.head.status.code == judged.status, "seed \(stream.seed)")
      #expect(response.value.data == Data(judged.content), "seed \(stream.seed)")
    } catch {
      #expect(!judged.isComplete, "seed \(stream.seed): \(error)")
      #expect(
        [.malformedResponse, .connectionLost, .contentTooLarge].contains(error.code), "seed \(stream.seed): \(error)")
      #expect(error.requestState != .notSent, "seed \(stream.seed): \(error)")
    }
  }
}
