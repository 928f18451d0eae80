import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct AppError: Error {}

@Suite("Reading content while it arrives")
struct StreamingTests {
  private let bench = CallBench()
  private let request = Request<Data>.get("/stream")

  @Test("Pieces are returned as they arrive, then nil, repeatedly")
  func pieces() async throws {
    bench.stub.onAny(reply: .pieces(["a", "b"]))
    let all = try await bench.api.withResponse(to: request) { response in
      #expect(response.head.status == .ok)
      var all: [Data] = []
      while let piece = try await response.next() { all.append(piece) }
      let end = try await response.next()
      #expect(end == nil)
      return all
    }
    #expect(all == [Data("a".utf8), Data("b".utf8)])
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
    #expect(bench.log.events.last == "succeeded")
    #expect(bench.isClean)
  }

  @Test("Content in memory, for example of a stored response, is read like arriving content")
  func inMemory() async throws {
    let stored = Doing { _, _, _ in
      .text("stored")
    }
    let bench = CallBench(middlewares: [(stored, .cache)])
    let content = try await bench.api.withResponse(to: request) { response in try await response.collect() }
    #expect(content == Data("stored".utf8))
  }

  @Test("Content that the closure leaves unread is cancelled at its end, and the call stays registered until then")
  func unread() async throws {
    bench.stub.onAny(reply: .pieces(["a", "b"]).stalled(after: 1))
    try await bench.api.withResponse(to: request) { response in
      let piece = try await response.next()
      #expect(piece == Data("a".utf8))
      #expect(bench.api.calls.count == 1)
      #expect(bench.api.calls.all.first?.phase == .handling)
    }
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(bench.isClean)
  }

  @Test("Unread content is cancelled even if a middleware keeps the response")
  func kept() async throws {
    let kept = Log<ResponseMessage>()
    let keeping = Doing { request, context, next in
      let response = try await next(request, context: context)
      kept.add(response)
      return response
    }
    let bench = CallBench(middlewares: [(keeping, .trace)])
    bench.stub.onAny(reply: .pieces(["a", "b"]).stalled(after: 1))
    try await bench.api.withResponse(to: request) { _ in }
    #expect(kept.all.count == 1)
    #expect(bench.isClean)
  }

  @Test("An error thrown by the closure becomes the cause of an error with the code handler")
  func handlerError() async throws {
    bench.stub.onAny(reply: .pieces(["a"]))
    let error = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: request) { _ in throw AppError() }
      })
    #expect(error.code == .handler)
    #expect(error.underlying is AppError)
    #expect(error.phase == .handling)
    #expect(error.requestState == .responded)
    #expect(bench.isClean)
  }

  @Test("An error of a nested call in the closure becomes the cause of an error with the code handler")
  func nestedError() async throws {
    bench.stub.on(.get, "/stream", reply: .pieces(["a"]))
    bench.stub.on(.get, "/other", reply: .status(404))
    let error = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: request) { _ in
          _ = try await bench.api.send(Request<Data>.get("/other"))
        }
      })
    #expect(error.code == .handler)
    #expect((error.underlying as? CallError)?.status == 404)
    #expect(error.endpoint.template == "/stream")
  }

  @Test("Content that ends early throws in the closure and ends the call")
  func brokenOff() async throws {
    bench.stub.onAny(reply: .pieces(["a"]).failing(after: 1))
    let error = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: request) { response in
          while try await response.next() != nil {}
        }
      })
    #expect(error.code == .connectionLost)
    #expect(error.requestState == .responded)
  }

  @Test("After a cancellation through the registry the next read throws, and the caller's task is not cancelled")
  func cancelled() async throws {
    bench.stub.onAny(reply: .pieces(["a", "b"]))
    let reads = Log<CallError.Code>()
    let error = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: request) { response in
          bench.api.calls.cancelAll()
          do throws(CallError) {
            _ = try await response.next()
          } catch {
            reads.add(error.code)
            throw error
          }
        }
      })
    #expect(reads.all == [.cancelled])
    #expect(error.cancellation == .requested)
    #expect(!Task.isCancelled)
    #expect(bench.isClean)
  }

  @Test("A read cancelled while it waits for content throws immediately")
  func cancelledWhileReading() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .pieces(["a"], gate: gate))
    let call = Task { [bench, request] in
      try await bench.api.withResponse(to: request) { response in _ = try await response.next() }
    }
    try await gate.waitForArrivals(1)
    call.cancel()
    let result = await call.result
    let error = #expect(throws: CallError.self) { try result.get() }
    #expect(error?.cancellation == .caller)
    #expect(bench.isClean)
  }

  @Test("A cancelled call returns no value even if its closure ignores the cancellation")
  func hidden() async throws {
    bench.stub.onAny(reply: .pieces(["a"]))
    await #expect(throws: CallError.self) {
      try await bench.api.withResponse(to: request) { response in
        bench.api.calls.cancelAll()
        _ = try? await response.next()
        return 1
      }
    }
    #expect(bench.log.events.last == "failed: cancelled")
  }

  @Test("A deadline applies while the closure reads")
  func deadline() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .pieces(["a"], gate: gate))
    let call = Task { [bench, request] in
      try await bench.api.withResponse(to: request.timeout(.seconds(1))) { response in _ = try await response.next() }
    }
    try await gate.waitForArrivals(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    let result = await call.result
    let error = #expect(throws: CallError.self) { try result.get() }
    #expect(error?.code == .timeout)
    #expect(error?.cancellation == .deadline(.handling))
    #expect(bench.isClean)
  }

  @Test("Collecting more than the limit fails")
  func limit() async throws {
    bench.stub.onAny(reply: .pieces(["aaaa", "bbbb"]))
    let error = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: request) { response in try await response.collect(upTo: 5) }
      })
    #expect(error.code == .contentTooLarge)
    #expect(bench.isClean)
  }

  @Test("A rejected response throws before the closure runs, with the server's message")
  func refused() async throws {
    bench.stub.onAny(reply: .pieces(["{\"message\":", "\"no\"}"], status: 403))
    let error = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: request) { _ in Issue.record("the closure ran") }
      })
    #expect(error.code == .rejected)
    #expect(error.status == 403)
    #expect(error.rejection?.message == "no")
    #expect(bench.isClean)
  }

  @Test("An endless rejected response is read only up to the content limit of errors")
  func endlessRefusal() async throws {
    let piece = Data(repeating: 97, count: CallError.contentLimit)
    bench.stub.onAny(reply: .pieces([piece, piece], status: 500).stalled(after: 1))
    let error = try #require(
      await #expect(throws: CallError.self) { try await bench.api.withResponse(to: request) { _ in } })
    #expect(error.content?.data.count == CallError.contentLimit)
    #expect(bench.isClean)
  }

  @Test("The closure runs on the caller's actor")
  @MainActor
  func isolation() async throws {
    bench.stub.onAny(reply: .pieces(["a"]))
    try await bench.api.withResponse(to: request) { response in
      MainActor.assertIsolated()
      _ = try await response.next()
      MainActor.assertIsolated()
    }
  }
}
