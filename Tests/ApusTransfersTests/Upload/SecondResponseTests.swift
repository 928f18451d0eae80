import ApusCore
import ApusTestServer
import ApusWaiting
import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Servers that send two responses to an upload request")
struct SecondResponseTests {
  enum Variant: String, CaseIterable, Sendable {
    case plain
    case tus
    case ietf

    /// The number of the request whose content is sent.
    var number: Int { self == .tus ? 1 : 0 }
    /// The final response that completes the upload.
    var success: String { self == .tus ? "204 No Content\r\nUpload-Offset: 20000000" : "200 OK\r\nContent-Length: 0" }
  }

  private static let rejection = "413 Content Too Large\r\nContent-Length: 0"

  /// Sends 20 MB to a server that responds twice, and then makes another call. The server reads the content only after a
  /// success that it sends alone.
  ///
  /// - Parameter gate: the gate before the second response. Default: both responses are sent together.
  private func send(
    _ variant: Variant, _ responses: [String], gate: Gate? = nil, _ check: (CallError?, TestServer) throws -> Void
  ) async throws {
    let steps = responses.map { Reply.Step.raw(Array("HTTP/1.1 \($0)\r\n\r\n".utf8)) }
    let reads = responses.first == variant.success ? [Reply.Step.reading(true)] : []
    let pause = gate.map { reads + [.wait($0)] } ?? []
    let reply = Reply(steps: [steps[0]] + pause + steps.dropFirst())
    var options = TestServer.Options(contentLimit: 1 << 10, repliesAt: .head)
    options.stopsReadingAtHead = { $0.number == variant.number }
    try await TestServer.with(options: options) { request in
      if request.target == "/next" { return .text("next") }
      if request.number == variant.number { return reply }
      return .status(201, fields: ["Location": "/files/1"])
    } body: { server in
      try await UploadBench.with(server) { bench in
        try bench.write(20_000_000)
        let film = Request<Void>.put("/files", content: .file(bench.path))
        let error = await failure {
          switch variant {
          case .plain: try await bench.api.send(film)
          case .tus: _ = try await bench.api.upload(film, by: .tus(), options: bench.options)
          case .ietf: _ = try await bench.api.upload(film, by: .ietf(), options: bench.options)
          }
        }
        gate?.open()
        for _ in 0..<3 {
          let text: String = try await bench.api.send(.get("/next"))
          #expect(text == "next")
        }
        try check(error, server)
        let connections = Dictionary(grouping: server.exchanges, by: \.connection)
        let used = try #require(server.exchanges.first { $0.id == variant.number }?.connection)
        #expect(connections[used]?.contains { $0.target == "/next" } == false)
        #expect(bench.records.isEmpty || error != nil)
      }
    }
  }

  @Test(
    "An early rejection is the outcome, and the success after it reaches no other call",
    arguments: Variant.allCases, [true, false])
  func rejected(_ variant: Variant, _ isTogether: Bool) async throws {
    try await send(variant, [Self.rejection, variant.success], gate: isTogether ? nil : Gate()) { error, _ in
      #expect(error?.code == .rejected && error?.status == 413)
    }
  }

  @Test(
    "An early success is the outcome once all content was sent, and the rejection after it reaches no other call",
    arguments: Variant.allCases)
  func accepted(_ variant: Variant) async throws {
    try await send(variant, [variant.success, Self.rejection], gate: Gate()) { error, server in
      #expect(error == nil)
      #expect(server.exchanges.filter { $0.target != "/next" }.count == variant.number + 1)
    }
  }

  @Test(
    "An early success is the outcome only if all content was sent before the server closed the connection",
    arguments: Variant.allCases)
  func cutOff(_ variant: Variant) async throws {
    try await send(variant, [variant.success, Self.rejection]) { error, _ in
      // By tus the upload then requests the offset, and this server does not support that request.
      #expect(error?.code == (variant == .tus ? .malformedResponse : .connectionLost))
      if variant != .tus { #expect(error?.requestState == .responded && error?.status == 200) }
    }
  }
}
