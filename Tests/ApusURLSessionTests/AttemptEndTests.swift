import ApusCore
import ApusTestServer
import ApusURLSession
import Foundation
import HTTPTypes
import Testing

import class ApusTesting.ManualClock

/// A middleware that limits every attempt to one second.
private struct ShortAttempts: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: .seconds(1)))
    return try await next(request, context: context)
  }
}

@Suite("Attempt deadline")
struct AttemptEndTests {
  private let clock = ManualClock(.manual)

  private func limited(_ server: TestServer, _ transport: URLSessionTransport) throws -> Client {
    var pipeline = Pipeline()
    pipeline.insert(ShortAttempts(), .after(.attemptTimeout))
    var settings = ClientSettings()
    settings.runtime.clock = clock
    return Client(
      environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: pipeline, transport: transport,
      settings: settings)
  }

  @Test("An attempt whose server does not respond ends as maybe sent, and its connection is closed")
  func silent() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let transport = URLSessionTransport()
      defer { transport.shutDown() }
      let client = try limited(server, transport)
      let call = Task { await errorOf { try await client.send(message()) } }
      let exchange = try await server.exchange()
      clock.advance(by: .seconds(1))
      let error = try #require(await call.value as? CallError)
      #expect(error.code == .timeout && error.requestState == .maybeSent && error.cancellation == nil)
      // The session does not report that a request without content was sent.
      #expect(error.phase == .connecting)
      try await server.waitForClientClose(of: exchange)
    }
  }

  @Test("An attempt whose content is not produced in time ends in the phase sending")
  func sending() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      let transport = URLSessionTransport()
      defer { transport.shutDown() }
      let client = try limited(server, transport)
      let (asked, never) = (Gate(), Gate())
      let content = ContentStream(isReplayable: false) {
        {
          asked.open()
          try await never.wait()
          return nil
        }
      }
      let call = Task { await errorOf { try await client.send(message(.put).content(.stream(content))) } }
      try await asked.wait()
      clock.advance(by: .seconds(1))
      let error = try #require(await call.value as? CallError)
      #expect(error.code == .timeout && error.phase == .connecting)
    }
  }

  @Test("The attempt's deadline does not limit response content")
  func content() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      Reply.text("hello").waiting(for: gate, at: .content(2))
    } body: { server in
      let transport = URLSessionTransport()
      defer { transport.shutDown() }
      let text = try await limited(server, transport).withResponse(to: message()) { response in
        var all = try await response.next() ?? Data()
        clock.advance(by: .seconds(60))
        gate.open()
        while let piece = try await response.next() { all.append(piece) }
        return String(decoding: all, as: UTF8.self)
      }
      #expect(text == "hello")
    }
  }
}
