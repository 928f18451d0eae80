import ApusCore
import ApusTestServer
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusNIO

/// The order in which calls ended.
private final class Ended: Sendable {
  private let errors = Mutex<[CallError?]>([])
  var all: [CallError?] { errors.withLock { $0 } }
  func add(_ error: CallError?) { errors.withLock { $0.append(error) } }
}

@Suite("Limits on responses")
struct LimitsTests {
  private func failing(
    _ reply: Reply, _ change: (inout NIOTransport.ResponseLimits) -> Void, _ request: Request<Content> = message()
  ) async throws -> CallError {
    try await TestServer.with { _ in
      reply
    } body: { server in
      try await NIOTransport.with {
        change(&$0.limits)
      } body: { transport in
        try #require(await failure { try await makeClient(server.origin, transport).send(request) })
      }
    }
  }

  private func kind(_ error: CallError) -> FramingError.Kind? { (error.underlying as? FramingError)?.kind }

  private func fields(_ count: Int) -> FieldLines {
    FieldLines((0..<count).map { FieldLine(name: "X-\($0)", value: "v") })
  }

  @Test("Field bytes are limited, and the error names the limit")
  func fieldBytes() async throws {
    let reply = Reply.text("", fields: ["X-Long": String(repeating: "x", count: 5000)])
    let error = try await failing(reply) { $0.fieldBytes = 4000 }
    #expect(error.code == .malformedResponse)
    #expect(kind(error) == .fieldsTooLarge)
    let standard = Reply.text("", fields: ["X-Long": String(repeating: "x", count: 256 << 10)])
    let flood = try await failing(standard) { _ in }
    #expect(kind(flood) == .fieldsTooLarge)
  }

  @Test("The limit on the number of fields includes fields of interim responses and trailers")
  func fieldCount() async throws {
    let head = Reply.text("", fields: fields(1001))
    let many = try await failing(head) { _ in }
    #expect(kind(many) == .tooManyFields)
    let interim = Reply.text("").interim(103, fields: fields(12))
    let early = try await failing(interim) { $0.fieldCount = 10 }
    #expect(kind(early) == .tooManyFields)
    let error = try await failing(.chunked([[1]], trailers: fields(10))) { $0.fieldCount = 10 }
    #expect(kind(error) == .tooManyFields)
    #expect(error.code == .malformedResponse && error.requestState == .responded)
  }

  @Test("The number of interim responses is limited")
  func interim() async throws {
    let reply = Reply.text("").interim(103).interim(103).interim(103)
    let error = try await failing(reply) { $0.interimResponses = 2 }
    #expect(error.code == .malformedResponse)
    #expect(kind(error) == .tooManyInterimResponses)
  }

  @Test("Decoded content is limited in size, ratio and number of codings")
  func codings() async throws {
    let zeros = [UInt8](repeating: 0, count: 100_000)
    let once = Reply.status(200, fields: ["Content-Encoding": "gzip"], content: compressed(zeros, .gzip))
    let large = try await failing(once) { $0.decodedBytes = 50_000 }
    let dense = try await failing(once) { ($0.decodedRatio, $0.ratioFreeBytes) = (10, 1000) }
    let twice = Reply.status(
      200, fields: ["Content-Encoding": "gzip, gzip"], content: compressed(compressed(zeros, .gzip), .gzip))
    let nested = try await failing(twice) { $0.contentCodings = 1 }
    let kinds = [large, dense, nested].map { ($0.underlying as? CodingError)?.kind }
    #expect(kinds == [.tooLarge, .ratioTooHigh, .tooManyCodings])
    #expect([large, dense, nested].map(\.code) == [.contentTooLarge, .contentTooLarge, .malformedResponse])
    #expect([large, dense, nested].allSatisfy { $0.requestState == .responded })
  }

  @Test("Each call's content limit applies, whether the content's length is announced or not")
  func content() async throws {
    for reply in [Reply.text("hello"), .chunked([[1, 2, 3], [4, 5]]), .unframed([1, 2, 3, 4, 5])] {
      let error = try await failing(reply, { _ in }, message().contentLimit(4))
      #expect(error.code == .contentTooLarge)
      #expect(error.phase == .receiving && error.requestState == .responded)
    }
  }

  @Test("The number of waiting calls is limited; a further call is refused immediately as not sent")
  func waiting() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      try await NIOTransport.with {
        ($0.maximumConnectionsPerOrigin, $0.maximumWaiting) = (1, 1)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let first = Task { try await client.send(message()) }
        try await server.exchanges(atLeast: 1)
        // Any of the three calls may be queued; the other two are refused.
        let ended = Ended()
        let others = (0..<3).map { _ in
          Task { ended.add(await failure { try await client.send(message()) }) }
        }
        try await waitWhile(ended.all.count < 2)
        let declined = ended.all
        client.calls.cancelAll()
        _ = await first.result
        for other in others { await other.value }
        #expect(declined.allSatisfy { $0?.code == .refused })
        #expect(declined.allSatisfy { $0?.requestState == .notSent })
        #expect(declined.allSatisfy { $0?.message == "This cannot be done right now. Try again later." })
      }
    }
  }
}
