import ApusCore
import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Foundation progress of a transfer")
struct FoundationProgressTests {
  private let clock = ManualClock(.manual)

  @Test("The progress is indeterminate until the total is known, never decreases, and finishes at the end")
  func steps() {
    let reporter = ProgressReporter()
    let progress = reporter.foundationProgress()
    #expect(progress.isIndeterminate && progress.totalUnitCount == -1 && !progress.isFinished)
    reporter.report(10, of: nil, at: clock.now)
    #expect(progress.isIndeterminate && progress.completedUnitCount == 10)
    reporter.report(40, of: 100, at: clock.now)
    #expect(!progress.isIndeterminate && progress.totalUnitCount == 100 && progress.fractionCompleted == 0.4)
    reporter.report(20, of: 100, at: clock.now)
    #expect(progress.completedUnitCount == 40)
    reporter.report(100, of: 100, at: clock.now)
    reporter.finish(isComplete: true)
    #expect(progress.isFinished && progress.fractionCompleted == 1)
  }

  @Test(
    "The progress of a transfer of unknown length, or of an empty transfer, finishes at the transfer's end",
    arguments: [0, 70])
  func end(_ length: Int64) {
    let reporter = ProgressReporter()
    let progress = reporter.foundationProgress()
    if length > 0 { reporter.report(length, of: nil, at: clock.now) }
    #expect(!progress.isFinished)
    reporter.finish(isComplete: true)
    #expect(progress.isFinished && progress.completedUnitCount == max(length, 1))
  }

  @Test("The progress of a failed transfer stays unfinished, and ignores later reports")
  func failed() {
    let reporter = ProgressReporter()
    let progress = reporter.foundationProgress()
    reporter.report(10, of: 100, at: clock.now)
    reporter.finish(isComplete: false)
    reporter.report(100, of: 100, at: clock.now)
    #expect(!progress.isFinished && progress.completedUnitCount == 10)
  }

  @Test(
    "If the total changes, the progress keeps its unit count, and its fraction never decreases",
    arguments: [50, 1000] as [Int64])
  func otherTotal(_ total: Int64) {
    let reporter = ProgressReporter()
    let progress = reporter.foundationProgress()
    reporter.report(80, of: 100, at: clock.now)
    reporter.report(total / 2, of: total, at: clock.now)
    #expect(progress.fractionCompleted == 0.8)
    reporter.report(total / 10 * 9, of: total, at: clock.now)
    #expect(progress.fractionCompleted == 0.9 && progress.totalUnitCount == 100)
    reporter.report(total, of: total, at: clock.now)
    reporter.finish(isComplete: true)
    #expect(progress.isFinished && progress.fractionCompleted == 1)
  }

  @Test("A progress starts with the reporter's latest values, even after the end, and a reporter can have several")
  func late() {
    let reporter = ProgressReporter()
    reporter.report(10, of: 100, at: clock.now)
    let first = reporter.foundationProgress()
    #expect(first.completedUnitCount == 10)
    reporter.report(100, of: 100, at: clock.now)
    reporter.finish(isComplete: true)
    let second = reporter.foundationProgress()
    #expect(first.isFinished && second.isFinished)
  }

  @Test("The progress's user info has the rate and the remaining time")
  func rate() {
    let reporter = ProgressReporter()
    let progress = reporter.foundationProgress()
    reporter.report(0, of: 300, at: clock.now)
    clock.advance(by: .seconds(1))
    reporter.report(100, of: 300, at: clock.now)
    #expect(progress.userInfo[.throughputKey] as? Int == 100)
    #expect(progress.userInfo[.estimatedTimeRemainingKey] as? Double == 2)
  }

  @Test("Cancelling the progress calls the closure; without a closure the progress is not cancellable")
  func cancel() async throws {
    let gate = Gate()
    let progress = ProgressReporter().foundationProgress { gate.open() }
    #expect(progress.isCancellable && !progress.isPausable)
    progress.cancel()
    try await gate.wait()
    #expect(progress.isCancelled && !ProgressReporter().foundationProgress().isCancellable)
  }

  @Test("The progress follows a download, also with several ranges", arguments: [1, 4])
  func download(_ ranges: Int) async throws {
    try await DownloadBench.with { bench in
      bench.serve(FileOnServer(length: 700_000))
      let reporter = ProgressReporter()
      let progress = reporter.foundationProgress()
      _ = try await bench.api.download(
        Request<Content>.get("/film").downloadProgress(reporter), to: bench.target, options: .parallel(ranges))
      #expect(progress.isFinished && progress.totalUnitCount == 700_000 && progress.completedUnitCount == 700_000)
    }
  }
}
