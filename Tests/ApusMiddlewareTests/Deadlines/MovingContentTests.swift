import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The default timeout while content is transferred")
struct MovingContentTests {
  private let bench = TimeBench()
  private let download = Request<Data>.get("/file")
  private let piece = Data(count: 64 << 10)

  /// Returns a reply with a piece of content every four seconds.
  private func steady(_ pieces: Int) -> StubReply {
    .pieces(Array(repeating: piece, count: pieces)).paced(every: .seconds(4))
  }

  /// A request with nine pieces of content, produced every four seconds.
  private var upload: Request<Void> {
    let content = ContentStream(isReplayable: true) { [clock = bench.clock, piece] in
      let made = Log<Void>()
      return {
        guard made.all.count < 9 else { return nil }
        made.add(())
        try await clock.sleep(until: clock.now.advanced(by: .seconds(4)))
        return piece
      }
    }
    return .put("/file", content: .stream(content))
  }

  private func outcome<E: Endpoint>(of request: E, _ api: Client) async -> TimeBench.Outcome {
    let call = bench.start(request, api)
    bench.pass(.seconds(400))
    return await call.value
  }

  @Test("With the default timeout, steady downloads of 36 seconds and of five minutes succeed", arguments: [9, 75])
  func steadyDownload(pieces: Int) async {
    bench.stub.onAny(reply: steady(pieces))
    let outcome = await outcome(of: download, bench.client())
    #expect(outcome.error == nil && outcome.duration == .seconds(4 * pieces))
  }

  @Test("A download ends after 20 s without a byte, and the error names the stall", arguments: [1, 6, 20])
  func stalledDownload(pieces: Int) async {
    bench.stub.onAny(reply: steady(pieces + 1).stalled(after: pieces))
    let outcome = await outcome(of: download, bench.client())
    #expect(outcome.error?.code == .timeout && outcome.error?.cancellation == .deadline(.receiving))
    #expect(outcome.error?.detail == "exceeded the stall limit of 20 s; change it with ExchangeTimeouts(stall:)")
    #expect(outcome.duration == .seconds(4 * pieces + 20))
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("A call's own stall timeout replaces the default", arguments: [8, 50])
  func ownStall(seconds: Int) async {
    bench.stub.onAny(reply: steady(9).stalled(after: 2))
    let patient = download.setting(ExchangeTimeouts.self, ExchangeTimeouts(stall: .seconds(seconds)))
    let outcome = await outcome(of: patient, bench.client())
    #expect(outcome.error?.detail.contains("\(seconds) s") == true)
    #expect(outcome.duration == .seconds(8 + seconds))
  }

  @Test("Content below the minimum rate ends the call after a minute, and the error names the rate")
  func trickling() async {
    bench.stub.onAny(reply: .pieces(Array(repeating: Data(count: 1000), count: 50)).paced(every: .seconds(4)))
    let outcome = await outcome(of: download, bench.client())
    #expect(
      outcome.error?.detail
        == "content was transferred slower than 1024 bytes/s over 60 s; allow that with .timeout(_:)")
    #expect(outcome.duration == .seconds(64))
  }

  @Test(
    "A steady upload of 36 s succeeds, and its response has the rest of the timeout",
    arguments: [(25, nil), (27, CallPhase.awaitingHead)])
  func upload(answer seconds: Int, phase: CallPhase?) async {
    bench.stub.onAny(reply: .status(204).after(.seconds(seconds)))
    let outcome = await outcome(of: upload, bench.client())
    #expect(outcome.error?.phase == phase)
    guard phase != nil else { return }
    #expect(outcome.error?.detail == "exceeded the default limit of 30 s; change it with .timeout(_:)")
    // Content was transferred from the 4th to the 36th second.
    #expect(outcome.duration == .seconds(62))
  }

  @Test("A long upload with a temporary rejection is retried, because the timeout excludes its transfer time")
  func repeatedUpload() async {
    bench.stub.on(.put, "/v1/file", replies: [.status(503), .status(204)])
    let outcome = await outcome(of: upload, bench.client { $0.insert(RetryMiddleware(.app), .after(.retry)) })
    #expect(outcome.error == nil && outcome.failedAttempts.count == 1)
  }

  @Test("The deadline of a later attempt excludes the time of content transfer")
  func lateTurn() async {
    bench.stub.on(.put, "/v1/file", replies: [.status(503), .status(204)])
    let turns = Log<MonotonicInstant?>()
    let api = bench.client {
      $0.insert(RetryMiddleware(.app), .after(.retry))
      $0.insert(Turns(seen: turns), .after(.scheduling))
    }
    _ = await outcome(of: upload, api)
    // The attempt took 36.1 seconds, with content transfer for 32 seconds.
    #expect(turns.all.map { $0?.sinceStart } == [.seconds(30), .seconds(62)])
  }

  @Test("A call's own timeout includes content: it ends a steady download, and the error names the timeout")
  func ownLimit() async {
    bench.stub.onAny(reply: steady(20))
    let outcome = await outcome(of: download.timeout(.seconds(38)), bench.client())
    #expect(outcome.error?.cancellation == .deadline(.receiving) && outcome.duration == .seconds(38))
    #expect(outcome.error?.detail == "exceeded the call's limit of 38 s; change it with .timeout(_:)")
  }

  @Test("A call without a timeout has no timer")
  func noLimit() async {
    bench.stub.onAny(reply: steady(2).stalled(after: 1))
    let api = bench.client()
    for request in [download.timeout(nil), download.timeout(.none)] {
      let call = bench.start(request, api)
      bench.pass(.seconds(86_400))
      #expect(api.calls.count == 1 && bench.clock.sleepers == 0)
      api.calls.cancelAll()
      bench.executor.runAll()
      #expect(await call.value.error?.code == .cancelled)
    }
  }

  @Test("An inherited deadline includes content, and the error names the deadline")
  func inherited() async {
    bench.stub.onAny(reply: steady(20))
    let api = bench.client()
    let call = Task(executorPreference: bench.executor) { [download] in
      await failure { try await api.withDeadline(.seconds(38)) { try await api.send(download) } }
    }
    bench.pass(.seconds(40))
    let error = await call.value
    #expect(error?.cancellation == .deadline(.receiving))
    let named = "exceeded the inherited deadline, 38 s after its start; change that with withDeadline(_:_:)"
    #expect(error?.detail.hasPrefix(named) == true)
  }

  @Test("All calls that share a steady download of 60 s succeed, even if they joined late or the first call left")
  func shared() async {
    bench.stub.onAny(reply: steady(15))
    let api = bench.client()
    let request = download.id("file", onDuplicate: .coalesce)
    let first = bench.start(request.timeout(.seconds(50)), api)
    let second = bench.start(request, api)
    bench.pass(.seconds(25))
    let third = bench.start(request, api)
    bench.pass(.seconds(40))
    let outcomes = [await first.value, await second.value, await third.value]
    #expect(outcomes.map { $0.error?.code } == [.timeout, nil, nil])
    #expect(outcomes.map(\.duration) == [.seconds(50), .seconds(60), .seconds(35)])
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("A call that joined a stalled download ends at the stall timeout as well")
  func sharedStall() async {
    bench.stub.onAny(reply: steady(9).stalled(after: 6))
    let api = bench.client()
    let calls = (0..<2).map { _ in bench.start(download.id("file", onDuplicate: .coalesce), api) }
    bench.pass(.seconds(60))
    for call in calls {
      let outcome = await call.value
      #expect(outcome.error?.detail.contains("stall limit of 20 s") == true)
      #expect(outcome.duration == .seconds(44))
    }
  }

  @Test("The default timeout of a streamed call applies up to the head, and does not apply to the content")
  func streams() async {
    bench.stub.on(.get, "/v1/silent", reply: .stalled)
    bench.stub.on(.get, "/v1/events", reply: .pieces(["a"]).stalled(after: 1))
    let api = bench.client()
    let calls = ["silent", "events"].map { path in
      Task(executorPreference: bench.executor) {
        await failure {
          try await api.withResponse(to: Request<Data>.get("/\(path)")) { response in
            while try await response.next() != nil {}
          }
        }
      }
    }
    bench.pass(.seconds(86_400))
    let error = await calls[0].value
    #expect(error?.phase == .awaitingHead && error?.trace.duration == .seconds(30))
    #expect(error?.detail == "exceeded the default limit of 30 s; change it with .timeout(_:)")
    #expect(api.calls.count == 1)
    api.calls.cancelAll()
    bench.executor.runAll()
    #expect(await calls[1].value?.code == .cancelled)
  }

  @Test("The default timeout excludes the transfer of a rejected stream's content")
  func refusedStream() async {
    bench.stub.onAny(
      reply: .pieces(Array(repeating: Data(count: 5000), count: 9), status: 500).paced(every: .seconds(4)))
    let api = bench.client()
    let call = Task(executorPreference: bench.executor) {
      await failure { try await api.withResponse(to: Request<Data>.get("/events")) { _ in } }
    }
    bench.pass(.seconds(60))
    let error = await call.value
    #expect(error?.status == 500 && error?.content?.data.count == 45_000)
  }
}

/// A middleware that records the deadline of attempts.
private struct Turns: Middleware {
  let seen: Log<MonotonicInstant?>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    seen.add(context.nearestDeadline)
    return try await next(request, context: context)
  }
}
