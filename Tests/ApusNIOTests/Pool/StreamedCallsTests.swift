import ApusCore
import ApusNIO
import ApusTestServer
import HTTPTypes
import Synchronization
import Testing

@Suite("Streams and the pool")
struct StreamedCallsTests {
  @Test("Open event streams do not block other calls to their server, independent of the connection limit")
  func eventStreams() async throws {
    try await TestServer.with { request in
      request.path == "/events" ? Reply.text("data: 1\n\nmore").stalling(at: .content(9)) : .text("answer")
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 2
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let gate = Gate()
        let streams = (0..<5).map { _ in
          Task {
            try await client.withResponse(to: message(.get, "/events")) { response in
              let first = try await response.next()
              try await gate.wait()
              return first?.count
            }
          }
        }
        try await gate.waitForArrivals(5)
        for _ in 0..<3 {
          let got = try await client.send(message(.get, "/other")).string
          #expect(got == "answer")
        }
        #expect(transport.usage.inUse == 5 && transport.usage.idle <= 2)
        gate.open()
        for stream in streams { #expect(try await stream.value == 9) }
      }
    }
  }

  @Test("A timeout is attributed to traffic control if all connections are in use, and to the server if it is slow")
  func subjects() async throws {
    let silent = try SilentPort()
    defer { withExtendedLifetime(silent) {} }
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 1
      } body: { transport in
        let subjects = Subjects()
        let busy = try client(server.origin, transport, subjects)
        let running = Task { await failure { try await busy.send(message()) } }
        try await server.exchanges(atLeast: 1)
        let own = ExchangeTimeouts(connection: .milliseconds(30))
        let waited = await failure { try await busy.send(message().setting(ExchangeTimeouts.self, own)) }
        #expect(waited?.code == .timeout && waited?.requestState == .notSent)
        #expect(waited?.detail.hasSuffix(": all connections that the limits permit are in use") == true)
        #expect(subjects.seen == [.trafficControl])
        let slow = try client("http://127.0.0.1:\(silent.number)", transport, subjects)
        let connecting = await failure { try await slow.send(message().setting(ExchangeTimeouts.self, own)) }
        #expect(connecting?.code == .timeout)
        #expect(subjects.seen == [.trafficControl, .server])
        busy.calls.cancelAll()
        _ = await running.value
      }
    }
  }

  private func client(_ url: String, _ transport: NIOTransport, _ subjects: Subjects) throws -> Client {
    var pipeline = Pipeline()
    pipeline.insert(subjects, .before(.transport))
    return Client(environment: Environment(baseURL: try BaseURL(url)), pipeline: pipeline, transport: transport)
  }
}

/// A middleware that records the sources of the transport's errors.
private final class Subjects: Middleware {
  private let all = Mutex<[TransportError.Source]>([])
  var seen: [TransportError.Source] { all.withLock { $0 } }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    do {
      return try await next(request, context: context)
    } catch let error as TransportError {
      all.withLock { $0.append(error.source) }
      throw error
    }
  }
}
