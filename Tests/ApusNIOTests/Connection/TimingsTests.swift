import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@Suite("Timings")
struct TimingsTests {
  @Test("The trace has the durations of name resolution, connecting and TLS for a new connection only")
  func newConnection() async throws {
    let authority = try TestAuthority.shared()
    try await TestServer.with(options: .init(tls: authority.tls())) { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
      } body: { transport in
        let client = try makeClient("https://localhost:\(server.port)", transport)
        let first = try #require(try await client.response(to: message()).trace.exchanges.first)
        for time in [
          first.nameLookup, first.connecting, first.tlsHandshake, first.sending, first.waiting, first.receiving,
        ] {
          #expect(try #require(time) >= .zero)
        }
        #expect(try #require(first.tlsHandshake) > .zero)
        let trace = try await client.response(to: message()).trace
        let second = try #require(trace.exchanges.first)
        #expect(
          second.nameLookup == nil && second.connecting == nil && second.tlsHandshake == nil && second.queued == nil)
        #expect(second.sending != nil && second.waiting != nil && second.receiving != nil)
        #expect(trace.reuses == [true])
      }
    }
  }

  @Test("The trace has the duration of a call's wait for a connection")
  func queued() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("").waiting(for: gate)
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 1
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let first = Task { try await client.response(to: message()) }
        try await gate.waitForArrivals(1)
        let second = Task { try await client.response(to: message()) }
        try await waitWhile(transport.usage.waiting < 1)
        // The first call uses the only connection, and the second call waits for the connection.
        try await waitWhile(client.calls.all.count(where: { $0.phase == .awaitingHead }) != 1)
        try await waitWhile(client.calls.all.count(where: { $0.phase == .connecting }) != 1)
        gate.open()
        let got = try await first.value.trace.exchanges.first?.nameLookup
        #expect(got == nil)
        let timings = try #require(try await second.value.trace.exchanges.first)
        #expect(try #require(timings.queued) > .zero)
        #expect(timings.connecting == nil)
      }
    }
  }

  @Test("The first byte of a response and its head are recorded separately")
  func firstByte() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      Reply(steps: [
        .raw(Array("HTTP/1.1 20".utf8)), .wait(gate), .raw(Array("0 OK\r\nContent-Length: 0\r\n\r\n".utf8)),
      ])
    } body: { server in
      try await NIOTransport.with { transport in
        let events = Events()
        var settings = ClientSettings()
        settings.observers = [events]
        let client = try makeClient(server.origin, transport, settings: settings)
        let call = Task { try await client.response(to: message()) }
        try await waitWhile(!events.all.contains(.firstByteArrived))
        gate.open()
        let kinds = try await call.value.trace.events.map(\.kind)
        let first = try #require(kinds.firstIndex(of: .firstByteArrived))
        #expect(first < (try #require(kinds.firstIndex(of: .headArrived(status: 200)))))
      }
    }
  }

  @Test("Interim responses are reported to the observer with their fields, and recorded in the trace")
  func interim() async throws {
    try await TestServer.with { _ in
      .text("final").interim(103, fields: ["Link": "</style.css>"]).interim(102)
    } body: { server in
      try await NIOTransport.with { transport in
        let seen = Mutex<[String]>([])
        let request = message().setting(InterimResponses.self) { response in
          seen.withLock {
            $0.append(
              "\(response.status.code) \(HTTPField.Name("Link").flatMap { response.headerFields[$0] } ?? "-")")
          }
        }
        let response = try await makeClient(server.origin, transport).response(to: request)
        #expect(response.value.string == "final")
        #expect(seen.withLock { $0 } == ["102 -", "103 </style.css>"])
        #expect(response.trace.events.map(\.kind).contains(.interim(status: 103)))
      }
    }
  }
}

private final class Events: CallObserver {
  private let kinds = Mutex<[TraceEvent.Kind]>([])

  var all: [TraceEvent.Kind] { kinds.withLock { $0 } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    kinds.withLock { $0.append(event.kind) }
  }
}
