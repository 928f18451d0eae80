import ApusTesting
import Synchronization
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Progress of transfers") struct TransferProgressTests {
  private func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  @Test("The fraction of a transfer is known if the total is, and exactly 1 at the end")
  func fractions() {
    #expect(TransferProgress(completed: 5).fraction == nil)
    #expect(TransferProgress(completed: 5, total: 10).fraction == 0.5)
    #expect(TransferProgress(completed: 10, total: 10).fraction == 1)
    #expect(TransferProgress(completed: 11, total: 10).fraction == 1)
    #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
  }

  @Test("The remaining time of a transfer is computed from total and rate")
  func remaining() {
    #expect(TransferProgress(completed: 5, total: 10).remaining == nil)
    #expect(TransferProgress(completed: 5, bytesPerSecond: 1).remaining == nil)
    #expect(TransferProgress(completed: 5, total: 10, bytesPerSecond: 2).remaining == .seconds(2.5))
    #expect(TransferProgress(completed: 5, total: 10, bytesPerSecond: 0).remaining == nil)
    #expect(TransferProgress(completed: 0, total: .max, bytesPerSecond: 1e-9).remaining == .seconds(1e9))
  }

  @Test("The rate of a transfer is the average of the last five seconds")
  func rate() {
    let reporter = ProgressReporter()
    reporter.report(0, of: 100_000, at: instant(0))
    #expect(reporter.current.bytesPerSecond == nil)
    reporter.report(10, of: 100_000, at: instant(0.1))
    #expect(reporter.current.bytesPerSecond == nil)
    for second in 1...10 { reporter.report(Int64(second) * 1000, of: 100_000, at: instant(Double(second))) }
    #expect(reporter.current.bytesPerSecond == 1000)
    for second in 11...40 {
      reporter.report(10_000 + Int64(second - 10) * 100, of: 100_000, at: instant(Double(second)))
    }
    #expect(reporter.current.bytesPerSecond == 100)
  }

  @Test("Progress never decreases, and a retry leaves it unchanged until more bytes are transferred")
  func monotonic() {
    let reporter = ProgressReporter()
    var seen: [Int64] = []
    for completed in [5, 20, 0, 10, 30] as [Int64] {
      reporter.report(completed, of: 40, at: instant(1))
      seen.append(reporter.current.completed)
    }
    #expect(seen == [5, 20, 20, 20, 30])
  }

  @Test(
    "If the total changes, progress remains until the new fraction is larger, and ends with all bytes of the last total",
    arguments: [50, 1000] as [Int64])
  func otherTotal(_ total: Int64) {
    let reporter = ProgressReporter()
    reporter.report(80, of: 100, at: instant(1))
    for completed in [0, total / 2, total / 10 * 7] {
      reporter.report(completed, of: total, at: instant(1))
      #expect((reporter.current.completed, reporter.current.total) == (80, 100))
    }
    for completed in [total / 10 * 9, total] {
      reporter.report(completed, of: total, at: instant(1))
      #expect((reporter.current.completed, reporter.current.total) == (completed, total))
    }
    reporter.finish(isComplete: true)
    #expect((reporter.current.completed, reporter.current.total) == (total, total))
  }

  @Test("The completed number never decreases if the total becomes known or unknown")
  func otherKnowledge() {
    let reporter = ProgressReporter()
    reporter.report(20, of: nil, at: instant(1))
    reporter.report(0, of: 100, at: instant(1))
    #expect((reporter.current.completed, reporter.current.total) == (20, 100))
    reporter.report(10, of: nil, at: instant(1))
    #expect((reporter.current.completed, reporter.current.total) == (20, 100))
    reporter.report(30, of: nil, at: instant(1))
    #expect((reporter.current.completed, reporter.current.total) == (30, nil))
    reporter.report(10, of: 20, at: instant(1))
    #expect((reporter.current.completed, reporter.current.total) == (30, nil))
    reporter.report(20, of: 20, at: instant(1))
    #expect((reporter.current.completed, reporter.current.total) == (20, 20))
  }

  @Test("A loop over progress receives the latest values and ends with the transfer", arguments: [true, false])
  func loop(isComplete: Bool) async {
    let reporter = ProgressReporter()
    reporter.report(1, of: 3, at: instant(0))
    reporter.report(2, of: 3, at: instant(0))
    var iterator = reporter.makeAsyncIterator()
    #expect(await iterator.next() == TransferProgress(completed: 2, total: 3))
    async let next = {
      var iterator = reporter.makeAsyncIterator()
      var last: TransferProgress?
      while let step = await iterator.next() { last = step }
      return last
    }()
    reporter.finish(isComplete: isComplete)
    reporter.report(3, of: 3, at: instant(0))
    let last = TransferProgress(completed: 2, total: isComplete ? 2 : 3)
    #expect(await next == last && reporter.current == last)
    #expect(await iterator.next() == (isComplete ? last : nil))
    #expect(await iterator.next() == nil)
  }

  @Test("A loop over progress ends when its task is cancelled, before or during a wait")
  func cancelledLoop() async {
    let reporter = ProgressReporter()
    for isEarly in [true, false] {
      let task = Task {
        while isEarly, !Task.isCancelled { await Task.yield() }
        var count = 0
        for await _ in reporter { count += 1 }
        return count
      }
      task.cancel()
      #expect(await task.value == 0)
    }
  }

  @Test("The progress of an upload and a download ends with exactly all bytes")
  func call() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .pieces(["ab", "cde"]))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let (up, down) = (ProgressReporter(), ProgressReporter())
    let stream = ContentStream(length: 6, isReplayable: true) {
      let rest = Once([Data("abc".utf8), Data("def".utf8)])
      return { rest.take() }
    }
    let request = Request<Data>.put("/x", content: .stream(stream))
    _ = try await api.send(request.uploadProgress(up).downloadProgress(down))
    #expect(up.current.completed == 6 && up.current.fraction == 1)
    #expect(down.current.completed == 5 && down.current.fraction == 1)
    #expect(await Array(down).isEmpty == false)
  }

  @Test("The progress of a failed call ends incomplete")
  func failedCall() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .pieces(["ab", "cde"]).failing(after: 1))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let down = ProgressReporter()
    _ = await failure { try await api.send(Request<Data>.get("/x").downloadProgress(down)) }
    #expect(down.current.completed == 2 && down.current.fraction != 1)
    var iterator = down.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    #expect(await iterator.next() == nil)
  }
}

/// Values of which each is returned once.
private final class Once: Sendable {
  private let rest: Mutex<[Data]>

  init(_ values: [Data]) {
    rest = Mutex(values)
  }

  func take() -> Data? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

extension Array {
  /// Collects a sequence.
  fileprivate init(_ sequence: some AsyncSequence<Element, Never>) async {
    self = []
    for await element in sequence { append(element) }
  }
}
