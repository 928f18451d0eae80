import ApusCore
import Foundation
import HTTPTypes
import Testing

@testable import ApusNIO

@Suite("Servers that misuse HTTP/2", .timeLimit(.minutes(3)))
struct HostileServerTests {
  @Test("Frames of invalid size, stream or order are errors", arguments: FrameCases.all)
  func frames(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("Malformed fields are stream errors", arguments: FieldCases.all)
  func fields(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("Invalid field blocks are connection errors", arguments: CompressionCases.all)
  func compression(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("Content, interim responses and trailers follow their rules", arguments: ContentCases.all)
  func content(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("Settings apply when they are acknowledged", arguments: SettingsCases.all)
  func settings(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("Flow-control windows are respected in both directions", arguments: WindowCases.all)
  func windows(_ hostile: HostileCase) async throws { try await hostile.run() }

  // One after the other: a server that floods occupies the event loop that the servers of other cases use.
  @Test("Floods end the connection", .serialized, arguments: FloodCases.all)
  func floods(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("GOAWAY moves the requests that the server has not processed", arguments: GoAwayCases.all)
  func goAway(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("RST_STREAM ends one call", arguments: ResetCases.all)
  func resets(_ hostile: HostileCase) async throws { try await hostile.run() }

  @Test("Closed and silent connections, and cancelled calls, end as errors", arguments: EndingCases.all)
  func endings(_ hostile: HostileCase) async throws { try await hostile.run() }

  /// The server's settings and a response.
  private static let exchange = frame(.settings) + responseFrames(1, "hello", ["content-length": "5"])

  @Test("A connection that closes after any number of bytes loses the call", arguments: 0..<exchange.count)
  func closesAfter(_ count: Int) async throws {
    let head = frame(.settings).count + frame(.headers, stream: 1, headBlock(200, ["content-length": "5"])).count
    try await HostileCase(
      "", "5.4", raw: [.await(.end(1)), .send(Array(Self.exchange[..<count])), .close],
      .closed(count < head ? .maybeSent : .responded)
    ).changed { $0.scripts[0].acknowledges = false }.run()
  }

  @Test("After an early success and GOAWAY, the whole request is sent before the connection closes")
  func lastFrame() async throws {
    var script = Script([
      .settings((.initialWindowSize, 1000)), .await(.end(1)), .respond(1), .await(.content(3, 1000)), .goAway(last: 3),
      .head(3, ends: true), .window(3, 4000),
    ])
    (script.credits, script.lastStream) = (false, 3)
    try await FrameServer.with([script]) { server in
      try await NIOTransport.with {
        $0.protocols = [.http2]
      } body: { transport in
        let client = try makeClient("http://127.0.0.1:\(server.port)", transport)
        // With the first response, the client has the server's settings.
        _ = try await client.send(message())
        _ = try await client.send(message(.post).content(.bytes(Data(count: 5000))))
      }
      try await server.waitUntilClosed()
      let request = try #require(server.received.first?.request(3))
      #expect(request.isComplete && request.contentCount == 5000)
      #expect(server.received.first?.resets.isEmpty == true)
    }
  }

  @Test("Each case has a name of its own")
  func names() {
    let cases = [
      FrameCases.all, FieldCases.all, CompressionCases.all, ContentCases.all, SettingsCases.all, WindowCases.all,
      FloodCases.all, GoAwayCases.all, ResetCases.all, EndingCases.all,
    ].flatMap { $0 }
    #expect(Set(cases.map(\.name)).count == cases.count)
    #expect(cases.count >= 150)
  }
}
