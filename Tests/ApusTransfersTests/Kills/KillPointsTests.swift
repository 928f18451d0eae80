#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

/// The work of a process when it is killed, and of the next process.
enum KillCourse: String, CaseIterable, Sendable {
  /// The process is killed during the transfer.
  case straight
  /// The process is killed while it transfers half of the file and then pauses.
  case pausing
  /// The process is killed while it continues a paused transfer.
  case continuing
  /// The process is killed while it transfers half of the file and then cancels. The next process cancels, too.
  case cancelling
  /// The process is killed while it transfers half of the file and then cancels. The next process continues from the
  /// record.
  case abandoning

  /// Returns the steps of the process that is killed.
  func steps(of variant: KillVariant) -> String {
    switch self {
    case .straight: variant.isCall ? "run" : "add run close"
    case .pausing: variant.isCall ? "halfway" : "add halfway pause close"
    case .continuing: variant.isCall ? "run" : "resume run close"
    case .cancelling, .abandoning: variant.isCall ? "halfway cancel" : "add halfway cancel close"
    }
  }

  /// Returns the steps of the next process.
  func nextSteps(of variant: KillVariant, after run: KillRun) -> String {
    if self == .cancelling { return variant.isCall ? "cancel" : "cancel close" }
    if variant.isCall || self == .abandoning { return variant.isCall ? "run" : "run close" }
    let isAdded = self == .continuing || run.lines.contains("add")
    return (isAdded ? "" : "add ") + "resume run close"
  }
}

/// A killed process and the process after it.
private struct KilledPair {
  let bench: KillBench
  let course: KillCourse
  let number: Int
  let first: KillRun
  let next: KillRun

  var variant: KillVariant { bench.variant }
  var reported: [String] { first.reported + next.reported }

  /// The point at which the process was killed, for messages.
  var place: Comment {
    """
    \(variant.rawValue), \(course), before change \(number), after \(first.changes.suffix(3)): printed \(first.lines) then \
    \(next.lines), left \(bench.files) \(bench.records), the server has \(bench.server.holdings)
    """
  }

  /// Whether the content may be sent twice. This happens if the server receives all content before the process stores
  /// the upload's URL. For requests that cannot be resumed, it happens if the server receives all content before the
  /// process stores the completion.
  var mayRepeat: Bool {
    switch variant {
    case .plain: first.reported.isEmpty && first.transferWrites < 2
    case .ietf: !first.writesUpload && !first.listsUpload
    // The call was about to return, so the next call is another upload.
    case .tusCall, .s3Call: first.removesUpload
    case .tus, .careful, .download, .downloadCall, .rangesCall: false
    }
  }

  func expectComplete() {
    #expect(next.error == nil && next.lines.last == (variant.isCall ? "run" : "close"), place)
    #expect(!reported.isEmpty && reported.allSatisfy { $0 == "reported \(variant.length)" }, place)
    #expect(bench.bytes == variant.content && bench.files == ["film.mp4"] && bench.records.isEmpty, place)
    #expect(!first.removesTransfer || next.reported.isEmpty, place)
    guard !variant.isDownload else { return }
    let holdings = bench.server.holdings
    #expect(holdings.complete == 1 || (mayRepeat && holdings.complete == 2), place)
    if variant == .tus || variant == .careful || (variant == .tusCall && !mayRepeat) {
      #expect(holdings.received == variant.length, place)
    }
    expectNoIncompleteUpload()
  }

  func expectCancelled() {
    #expect(next.error == nil && next.lines.last == (variant.isCall ? "cancel" : "close"), place)
    #expect(reported.isEmpty, place)
    expectNothing()
  }

  func expectNothing() {
    #expect(bench.files == (variant.isDownload ? [] : ["film.mp4"]) && bench.records.isEmpty, place)
    expectNoIncompleteUpload()
  }

  private func expectNoIncompleteUpload() {
    // Without a record no process can find the upload. In the draft protocol a process may be paused before it has a
    // record.
    let isStored = course == .continuing && (variant != .ietf || first.listsUpload)
    guard isStored || (course != .continuing && first.writesUpload) else { return }
    #expect(bench.server.holdings.incomplete == 0, place)
  }
}

@Suite(
  "Processes that are killed before a change of the file system",
  .enabled(if: KillPoints.library != nil, "clang, cc or gcc must compile scripts/kill-points.c"),
  .timeLimit(.minutes(20)))
struct KillPointsTests {
  @Test(
    "A queued transfer killed at any point is completed by the next process, and sent once",
    arguments: KillVariant.queued, [KillCourse.straight, .pausing, .continuing])
  func queued(_ variant: KillVariant, _ course: KillCourse) async throws {
    try await forEachPoint(variant, course) { pair in
      #expect(!pair.next.listed.contains(".new"), pair.place)
      pair.expectComplete()
    }
  }

  @Test("A queued transfer killed while it is cancelled leaves no files", arguments: KillVariant.queued)
  func cancelled(_ variant: KillVariant) async throws {
    try await forEachPoint(variant, .cancelling) { $0.expectCancelled() }
  }

  @Test(
    "A queued transfer killed while it is cancelled is either completed or cancelled by the next process",
    arguments: KillVariant.queued)
  func abandoned(_ variant: KillVariant) async throws {
    try await forEachPoint(variant, .abandoning) { pair in
      #expect(pair.next.error == nil && pair.next.lines.last == "close", pair.place)
      let (first, isStored) = (pair.first, pair.first.transferWrites > 0)
      let isRemoved = first.removesTransfer || first.removesUpload || first.removesFile
      if isStored, !isRemoved, first.transferWrites == 1 {
        pair.expectComplete()
      } else {
        #expect(pair.reported.isEmpty, pair.place)
        pair.expectNothing()
      }
    }
  }

  @Test(
    "A call killed at any point is completed by the next process",
    arguments: KillVariant.calls, [KillCourse.straight, .pausing, .continuing])
  func call(_ variant: KillVariant, _ course: KillCourse) async throws {
    try await forEachPoint(variant, course) { $0.expectComplete() }
  }

  @Test("A call killed while it is discarded leaves no files", arguments: KillVariant.calls)
  func discarded(_ variant: KillVariant) async throws {
    try await forEachPoint(variant, .cancelling) { $0.expectCancelled() }
  }

  /// Runs a process that is killed before a change, and then the next process. Repeats this for each change.
  private func forEachPoint(
    _ variant: KillVariant, _ course: KillCourse, _ check: (KilledPair) throws -> Void
  ) async throws {
    var changes: [String] = []
    try await KillBench.with(variant) { bench in
      let run = try await start(course, bench)
      #expect(run.error == nil)
      changes = run.changes
    }
    try #require(!changes.isEmpty)
    if KillPoints.isExhaustive {
      print("\(variant.rawValue), \(course): killed before each of \(changes.count) changes")
    }
    for number in KillPoints.numbers(of: changes) {
      try await KillBench.with(variant) { bench in
        let first = try await start(course, bench, killedAt: number)
        // An incomplete file never has the final name.
        if variant.isDownload { #expect(bench.bytes == nil || bench.bytes == variant.content) }
        let next = try await bench.run(course.nextSteps(of: variant, after: first))
        let pair = KilledPair(bench: bench, course: course, number: number, first: first, next: next)
        #expect(first.error == nil, pair.place)
        try check(pair)
      }
    }
  }

  private func start(_ course: KillCourse, _ bench: KillBench, killedAt number: Int? = nil) async throws -> KillRun {
    bench.server.stall(course != .straight)
    if course == .continuing {
      let first = try await bench.run(bench.variant.isCall ? "halfway" : "add halfway pause close")
      #expect(first.error == nil && first.reported.isEmpty)
      try await bench.server.endStalls()
    }
    let run = try await bench.run(course.steps(of: bench.variant), killedAt: number)
    try await bench.server.endStalls()
    return run
  }
}
#endif
