import ApusCore
import ApusTestServer
import Dispatch
import Foundation
import HTTPTypes
import LoopbackConformance
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Unread bytes on idle connections")
struct UnreadBytesTests {
  private static let evil = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8)

  /// A block of a transport's only thread. No socket is read until the thread is released.
  private struct HeldLoop {
    private let end = DispatchSemaphore(value: 0)

    init(_ loop: any EventLoop) async throws {
      let begun = Gate()
      loop.execute { [end] in
        begun.open()
        _ = end.wait(timeout: .now() + .seconds(300))
      }
      try await begun.wait()
    }

    func release() { end.signal() }
  }

  @Test(
    "Unread bytes on an idle connection are detected before the next request is written, and never read as its response",
    arguments: [false, true],
    [false, true])
  func beforeTheRequest(isSecure: Bool, isEnd: Bool) async throws {
    let authority = isSecure ? try TestAuthority.shared() : nil
    let (sending, sent) = (Gate(), Gate())
    var options = TestServer.Options()
    options.tls = authority?.tls()
    try await TestServer.with(options: options) { request in
      let reply = Reply.text("asked for \(request.number)")
      // The second gate opens after the bytes have left the server.
      return request.number == 0 && !isEnd
        ? reply.inserting([.wait(sending), .raw(Self.evil), .wait(sent)], at: .end) : reply
    } body: { server in
      try await NIOTransport.with {
        $0.eventLoops = .dedicated(1)
        if let authority { $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)] }
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let first = try await client.send(message()).string
        #expect(first == "asked for 0")
        let loop = try await HeldLoop(try #require(transport.core.loops.next()))
        defer { loop.release() }
        if isEnd {
          await server.closeConnections()
        } else {
          sending.open()
          try await sent.waitForArrivals(1)
        }
        // A POST is not idempotent, so a POST that was written could not be resent.
        let second = Task { try await client.response(to: message(.post)) }
        try await requireSoon("the call does not get the connection") { transport.usage.inUse == 1 }
        loop.release()
        let response = try await second.value
        #expect(response.value.string == "asked for 1")
        #expect(response.trace.events.contains { $0.kind == .resent })
        #expect(server.exchanges.map(\.connection) == [0, 1])
      }
    }
  }
}
