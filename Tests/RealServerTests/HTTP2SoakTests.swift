#if os(Linux)
import Apus
import ApusNIO
import Foundation
import LoopbackConformance
import Testing

/// Many calls at servers that end their HTTP/2 connections all the time.
@Suite("Soak of HTTP/2 at other servers")
struct HTTP2SoakTests {
  /// The number of calls at nginx: `APUS_GOAWAY_CALLS`, or 10,000.
  private static let calls = ProcessInfo.processInfo.environment["APUS_GOAWAY_CALLS"].flatMap { Int($0) } ?? 10_000
  private static let atOnce = 64

  /// Makes concurrent calls, each with its number in a field. Returns the number of connections that they used.
  private func call(_ numbers: Range<Int>, _ path: RequestPath, by client: Client) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for first in 0..<Self.atOnce {
        group.addTask {
          var connections = 0
          for number in stride(from: numbers.lowerBound + first, to: numbers.upperBound, by: Self.atOnce) {
            var request = message(number % 2 == 0 ? .get : .post, path).field("X-Call", "\(number)")
            if number % 2 == 1 { request = request.content(.bytes(Data(count: number % 4 == 1 ? 10 : 20_000))) }
            let response = try await client.response(to: request)
            #expect(response.head.status == .ok)
            if response.isOnNewConnection { connections += 1 }
          }
          return connections
        }
      }
      return try await group.reduce(0, +)
    }
  }

  /// Fails unless nginx has logged each of the calls once, with success.
  private func requireExecutedOnce(_ numbers: Range<Int>, _ log: String, of nginx: RealServer) async throws {
    // nginx logs a request after its response.
    var lines: [Substring] = []
    try await waitWhile {
      lines = String(decoding: try nginx.file(log), as: UTF8.self).split(separator: "\n")
      return lines.count < numbers.count
    }
    let expected = Set(numbers.map { "\($0) 200" })
    #expect(lines.count == numbers.count)
    #expect(Set(lines.map(String.init)) == expected)
  }

  @Test(
    "All calls succeed once at a server that sends GOAWAY after every hundred requests", .needs(.nginxHTTP2),
    .timeLimit(.minutes(30)))
  func hundredEach() async throws {
    let nginx = try await RealServer.started(.nginxHTTP2)
    try await withHTTP2(nginx, "short") { client, _ in
      let made = try await call(0..<Self.calls, "/", by: client)
      #expect(made >= Self.calls / 100)
    }
    try await requireExecutedOnce(0..<Self.calls, "logs/short.log", of: nginx)
  }

  @Test("All calls succeed once while the server is reloaded", .needs(.nginxHTTP2), .timeLimit(.minutes(10)))
  func reloads() async throws {
    let nginx = try await RealServer.started(.nginxHTTP2)
    let process = try #require(Int32(String(decoding: try nginx.file("nginx.pid"), as: UTF8.self).dropLast()))
    var number = 0
    try await withHTTP2(nginx) { client, _ in
      for reload in 0..<4 {
        if reload > 0 { kill(process, SIGHUP) }
        // Until the old connections have ended.
        var made = 0
        repeat {
          made += try await call(number..<number + 500, "/call", by: client)
          number += 500
        } while made == 0
      }
    }
    try await requireExecutedOnce(0..<number, "logs/calls.log", of: nginx)
  }

  @Test(
    "Each call ends once, and no request is executed twice, at a server that resets streams and ends connections",
    .needs(.h2), .timeLimit(.minutes(60)))
  func storm() async throws {
    let url = try await RealServer.h2.value.url("storm")
    var options = NIOTransport.Options()
    options.protocols = [.http2]
    (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (.seconds(120), nil, nil)
    let kind = TransportKind("NIOTransport over HTTP/2") { [options] in
      let transport = NIOTransport(options: options)
      return TransportKind.Opened(
        transport, isQuiet: { transport.usage.inUse + transport.usage.waiting + transport.usage.connecting == 0 }
      ) {
        await transport.shutDown()
      }
    }
    try await Storm(of: kind, at: url).run(calls: Storm.calls)
  }
}
#endif
