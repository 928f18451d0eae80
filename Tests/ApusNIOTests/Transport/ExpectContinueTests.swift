import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import LoopbackConformance
import Testing

@Suite("Expect: 100-continue")
struct ExpectContinueTests {
  private static let length = 300_000
  private static let request = message(.put).content(.bytes(Data(repeating: 7, count: length))).expectsContinue()

  private func exchange(
    repliesAt moment: TestServer.Options.ReplyMoment, reply: Reply,
    check: (Response<Content>, TestServer) async throws -> Void
  ) async throws {
    try await TestServer.with(options: TestServer.Options(repliesAt: moment)) { _ in
      reply
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        try await check(try await client.response(to: Self.request), server)
      }
    }
  }

  @Test("Content is sent when the server responds with 100 (Continue)")
  func asked() async throws {
    try await exchange(repliesAt: .end, reply: .text("stored")) { response, server in
      #expect(response.status == 200)
      #expect(response.trace.events.contains { $0.kind == .interim(status: 100) })
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.fields["Expect"] == "100-continue" && exchange.isComplete)
      #expect(exchange.contentLength == Self.length)
    }
  }

  @Test("Without 100 (Continue) the content is sent after at most a second")
  func notAsked() async throws {
    let received = Gate()
    try await TestServer.with(options: TestServer.Options(repliesAt: .head)) { _ in
      .text("stored").waiting(for: received)
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        async let response = client.response(to: Self.request)
        try await requireSoon("the content was not sent") { server.exchanges.first?.isComplete == true }
        #expect(server.exchanges.first?.contentLength == Self.length)
        received.open()
        #expect(try await response.status == 200)
      }
    }
  }

  @Test("A call cancelled while it waits for 100 (Continue) sends no content")
  func cancelled() async throws {
    try await TestServer.with(options: TestServer.Options(repliesAt: .head)) { _ in
      Reply.text("never").waiting(for: Gate())
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let call = Task { await failure { try await client.response(to: Self.request) } }
        let exchange = try await server.exchange()
        call.cancel()
        #expect(await call.value?.code == .cancelled)
        try await server.waitForClientClose(of: exchange)
        #expect(server.exchanges.first?.contentLength == 0)
      }
    }
  }

  @Test("No content is sent to a server that rejects the request after its head", arguments: [401, 413, 417])
  func rejected(status: Int) async throws {
    try await exchange(repliesAt: .head, reply: .status(status)) { response, server in
      #expect(response.status == status)
      #expect(!response.trace.events.contains { $0.kind == .requestSent })
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.contentLength == 0 && !exchange.isComplete)
    }
  }
}
