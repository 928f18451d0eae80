import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

import class ApusTesting.ManualClock

/// A middleware that limits every attempt to a short time.
private struct ShortAttempts: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: .milliseconds(20)))
    return try await next(request, context: context)
  }
}

/// The client's clock is advanced only by the tests, so that no attempt ends early on a slow machine.
@Suite("Attempt deadline")
struct AttemptEndTests {
  private let clock = ManualClock(.manual)

  private func limited(_ url: String, _ transport: NIOTransport) throws -> Client {
    var pipeline = Pipeline()
    pipeline.insert(ShortAttempts(), .after(.attemptTimeout))
    var settings = ClientSettings()
    settings.runtime.clock = clock
    return Client(
      environment: Environment(baseURL: try BaseURL(url)), pipeline: pipeline, transport: transport,
      settings: settings)
  }

  /// Returns the error of a call whose deadline passes as soon as a condition holds.
  private func overtime(
    of request: Request<Content>, _ client: Client, after moment: () async throws -> Void
  ) async throws -> CallError {
    let call = Task { await failure { try await client.send(request) } }
    try await moment()
    clock.advance(by: .seconds(1))
    return try #require(await call.value)
  }

  @Test("An attempt whose server does not respond ends in the phase awaitingHead, and its connection is closed")
  func silent() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      try await NIOTransport.with {
        ($0.firstByteTimeout, $0.stallTimeout) = (.seconds(3600), .seconds(3600))
      } body: { transport in
        let client = try limited(server.origin, transport)
        let error = try await overtime(of: message(.post).content(.text("x")), client) {
          try await server.exchanges(atLeast: 1)
        }
        #expect(error.code == .timeout && error.phase == .awaitingHead && error.requestState == .maybeSent)
        #expect(error.cancellation == nil)
        try await server.waitForClientClose(of: try await server.exchange())
      }
    }
  }

  @Test(
    "An attempt whose content is not read by the server, or not produced, ends in the phase sending",
    arguments: [true, false])
  func sending(isMade: Bool) async throws {
    try await TestServer.with(options: .init(repliesAt: .head)) { _ in
      Reply.stalled.inserting([.reading(false)], at: .start)
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try limited(server.origin, transport)
        let (asked, never) = (Gate(), Gate())
        let content = ContentStream(isReplayable: false) {
          {
            asked.open()
            if !isMade { try await never.wait() }
            return Data(count: 1 << 16)
          }
        }
        let error = try await overtime(of: message(.put, "/blocked").content(.stream(content)), client) {
          try await asked.wait()
        }
        #expect(error.code == .timeout && error.phase == .connecting && error.requestState == .maybeSent)
      }
    }
  }

  @Test("An attempt whose host does not respond ends as not sent", arguments: ["http", "https"])
  func connecting(scheme: String) async throws {
    // With TLS the connection succeeds, but the handshake never ends.
    let port = try SilentPort(accepts: scheme == "https")
    defer { withExtendedLifetime(port) {} }
    try await NIOTransport.with { transport in
      let client = try limited("\(scheme)://127.0.0.1:\(port.number)", transport)
      let error = try await overtime(of: message(), client) {
        try await waitWhile(client.calls.all.first?.phase != .connecting)
      }
      #expect(error.code == .timeout && error.phase == .connecting && error.requestState == .notSent)
    }
  }

  @Test("The wait for a connection counts toward the attempt's deadline, and the attempt ends as not sent")
  func waiting() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 1
      } body: { transport in
        let patient = try makeClient(server.origin, transport)
        let running = Task { await failure { try await patient.send(message()) } }
        try await server.exchanges(atLeast: 1)
        let client = try limited(server.origin, transport)
        let error = try await overtime(of: message(), client) {
          try await waitWhile(client.calls.all.first?.phase != .connecting)
        }
        #expect(error.code == .timeout && error.phase == .connecting && error.requestState == .notSent)
        #expect(server.exchanges.count == 1)
        patient.calls.cancelAll()
        #expect(await running.value?.code == .cancelled)
      }
    }
  }

  @Test("The attempt's deadline does not limit response content")
  func content() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      Reply.text("hello").waiting(for: gate, at: .content(2))
    } body: { server in
      try await NIOTransport.with { transport in
        let text = try await limited(server.origin, transport).withResponse(to: message()) { response in
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

  @Test("Attempt deadlines follow the client's clock: while it is stopped, no attempt ends")
  func clientsClock() async throws {
    let gate = Gate()
    try await TestServer.with { exchange in
      exchange.path == "/late" ? .text("late").waiting(for: gate) : .text("ok")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try limited(server.origin, transport)
        let answer = Task { try await client.send(message(.get, "/late")).string }
        try await server.exchanges(atLeast: 1)
        // These calls take longer than the attempt may take.
        for _ in 0..<200 { _ = try await client.send(message()) }
        gate.open()
        #expect(try await answer.value == "late")
      }
    }
  }
}
