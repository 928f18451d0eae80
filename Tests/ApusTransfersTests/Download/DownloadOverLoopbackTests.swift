import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Downloads over a connection")
struct DownloadOverLoopbackTests {
  private static let length = 5_000_000

  /// Returns the response of a server with ranges.
  private static func reply(to request: RecordedRequest, tag: String = #""v1""#) -> Reply {
    let range = request.fields["If-Range"] ?? tag == tag ? request.fields["Range"] : nil
    let start = range.flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) } ?? 0
    var fields: FieldLines = ["ETag": tag, "Content-Length": String(length - start)]
    if range != nil { fields["Content-Range"] = "bytes \(start)-\(length - 1)/\(length)" }
    return Reply(steps: [
      .head(range == nil ? 200 : 206, fields: fields), .generated(.counting, start..<length),
    ])
  }

  private func with(
    _ handler: @escaping TestServer.Handler,
    _ test: (Client, DownloadBench, TestServer) async throws -> Void
  ) async throws {
    try await TestServer.with(handler) { server in
      try await DownloadBench.with { bench in
        var settings = ClientSettings()
        settings.runtime.random = { 0 }
        let transport = NIOTransport()
        let client = Client(
          environment: Environment(baseURL: try BaseURL(server.origin)), transport: transport, settings: settings)
        try await test(client, bench, server)
        #expect(bench.bytes(bench.target).map { [UInt8]($0) } == ContentPattern.counting.bytes(0..<Self.length))
        #expect(bench.names == ["film.mp4"])
      }
    }
  }

  @Test("A file arrives completely")
  func complete() async throws {
    try await with {
      Self.reply(to: $0)
    } _: { api, bench, _ in
      let file = try await api.download("/film", to: bench.target)
      #expect(file.size == Int64(Self.length))
    }
  }

  @Test("A download continues by itself after its connection was closed or reset", arguments: [false, true])
  func cut(_ isReset: Bool) async throws {
    try await with { request in
      let reply = Self.reply(to: request)
      guard request.number < 2 else { return reply }
      return isReset ? reply.resetting(at: .content(1_500_000)) : reply.ending(with: .cut, at: .content(1_500_000))
    } _: { api, bench, server in
      let file = try await api.download("/film", to: bench.target)
      #expect(file.size == Int64(Self.length) && server.exchanges.count == 3)
    }
  }

  @Test("A cancelled download continues in the next call")
  func cancelled() async throws {
    try await with { request in
      let reply = Self.reply(to: request)
      return request.number == 0 ? reply.stalling(at: .content(1_500_000)) : reply
    } _: { api, bench, server in
      let task = Task { () async -> CallError? in
        await failure {
          try await api.download(Request<Content>.get("/film"), to: bench.target, DownloadOptions()) {
            bench.progress.add($0, $1)
          }
        }
      }
      try await waitWhile(bench.progress.completed.last != 1_500_000)
      task.cancel()
      let error = await task.value
      #expect(error?.code == .cancelled && error?.transfer?.keptBytes == 1_500_000)
      let file = try await api.download("/film", to: bench.target)
      #expect(file.resumedBytes == 1_500_000 && server.exchanges.last?.fields["Range"] == "bytes=1500000-")
    }
  }

  @Test("A file that changed between two calls arrives completely")
  func changed() async throws {
    try await with { request in
      let reply = Self.reply(to: request, tag: request.number == 0 ? #""v0""# : #""v1""#)
      return request.number == 0 ? reply.resetting(at: .content(1_500_000)) : reply
    } _: { api, bench, server in
      let file = try await api.download("/film", to: bench.target)
      #expect(file.field("ETag") == #""v1""# && file.resumedBytes == 0 && server.exchanges.map(\.status) == [200, 200])
    }
  }
}
