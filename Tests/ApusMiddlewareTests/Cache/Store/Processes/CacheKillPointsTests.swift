#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import ApusMiddleware

/// A process that stores responses, killed before a change of the file system.
private struct KilledWorker {
  /// The steps that the process completed.
  let steps: [String]
  /// The changes that it made.
  let changes: [String]

  func has(_ step: String) -> Bool { steps.contains(step) }

  /// Runs a process to its end.
  ///
  /// - Parameter number: the number of the change before which the process is killed. Default: `nil`, never.
  static func run(_ bench: FolderBench, killedAt number: Int? = nil) async throws -> KilledWorker {
    let report = bench.path + "-report"
    defer { try? FileManager.default.removeItem(atPath: report) }
    var environment = [
      "LD_PRELOAD": try #require(KillPoints.library), "APUS_KILL_REPORT": report, "APUS_KILL_FOLDERS": bench.path,
    ]
    if let number { environment["APUS_KILL_AT"] = "\(number)" }
    let process = try WorkerProcess(.cache, environment: environment, "steps", bench.path)
    var steps: [String] = []
    _ = await process.line { line in
      steps.append(line)
      return false
    }
    // The output of a killed process may be closed before its locks are released.
    await process.waitUntilEnd()
    let text = FileManager.default.contents(atPath: report).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return KilledWorker(steps: steps, changes: text.split(separator: "\n").map(String.init))
  }
}

@Suite(
  "Caches of processes that are killed before a change of the file system",
  .enabled(if: KillPoints.library != nil, "clang, cc or gcc must compile scripts/kill-points.c"),
  .timeLimit(.minutes(20)))
struct CacheKillPointsTests {
  private static let capacity: Int64 = 200_000

  private func content(_ path: String, _ version: Int, _ size: Int = 1000) -> String {
    let word = "\(path) \(version);"
    return String(repeating: word, count: size / word.utf8.count)
  }

  @Test("Each entry is whole or absent, what was removed stays removed, and the next process stores")
  func points() async throws {
    var changes: [String] = []
    try await FolderBench.with { bench in
      let whole = try await KilledWorker.run(bench)
      #expect(whole.steps.last == "close" && bench.entries.count == 1)
      changes = whole.changes
    }
    #expect(changes.count > 100)
    for number in KillPoints.numbers(of: changes, late: 4, early: 16) {
      try await FolderBench.with { bench in
        let killed = try await KilledWorker.run(bench, killedAt: number)
        #expect(killed.steps.last != "close" && killed.changes.count >= number)
        let place = Comment("before change \(number), \(killed.changes.last ?? ""), after \(killed.steps)")
        try await check(killed, bench, place)
      }
    }
  }

  private func check(_ killed: KilledWorker, _ bench: FolderBench, _ place: Comment) async throws {
    let store = bench.store(capacity: Self.capacity)
    _ = await store.subjects()
    #expect(bench.names.count == bench.entries.count + 1, place)
    let size = bench.entries.map { Int64(bench.bytes($0).count) }.reduce(0, +)
    #expect(await store.usage == size, place)
    #expect(size <= Self.capacity, place)
    try await checkContents(killed, bench, store, place)
    let next = CacheWorld.update(sentAt: store.begin())
    #expect(await bench.put(store, "/next", next, "next"), place)
    #expect(await bench.texts(bench.store(capacity: Self.capacity), "/next") == ["next"], place)
    #expect(bench.names.count == bench.entries.count + 1, place)
  }

  private func checkContents(
    _ killed: KilledWorker, _ bench: FolderBench, _ store: FolderStore, _ place: Comment
  ) async throws {
    let isRemoved = killed.has("removed")
    let mayBeEvicted = killed.has("account")
    let (old, new) = (content("/a", 1), content("/a", 2))
    let isInvalidated = killed.has("group")
    let a = await bench.texts(store, "/a")
    if killed.has("replaced") {
      let expected: Set = [isInvalidated ? new + "*" : new]
      let isAsExpected = a == expected || (killed.has("target") && a == [new + "*"])
      #expect(isAsExpected || (mayBeEvicted && a.isEmpty), place)
    } else if killed.has("a") {
      // While the entry is replaced, it may be absent.
      #expect([[old], [new], []].contains(a) && (killed.has("d") || a == [old]), place)
    }
    let b = await bench.texts(store, .account(1, "/b"))
    #expect(killed.has("account") ? b.isEmpty : b.isSubset(of: [content("/b", 1), content("/b", 1) + "*"]), place)
    if killed.has("accounts"), !killed.has("e") { #expect(b.count == 1, place) }
    let c = await bench.texts(store, .account(2, "/c"))
    if killed.has("accounts"), !mayBeEvicted { #expect(c.count == 1, place) }
    #expect(c.isSubset(of: [content("/c", 1), content("/c", 1) + "*"]), place)
    let d = await bench.texts(store, "/d")
    #expect(killed.has("target") ? d.isEmpty : d.isSubset(of: [content("/d", 1, 20_000)]), place)
    if killed.has("d"), !killed.has("freshened") { #expect(d.count == 1, place) }
    let e = await bench.texts(store, "/e")
    if killed.has("e"), !mayBeEvicted { #expect(e == [content("/e", 1)], place) }
    for number in 0..<12 {
      let texts = await bench.texts(store, "/\(number)")
      #expect(texts.isSubset(of: isRemoved ? [] : [content("/\(number)", 1, 20_000)]), place)
    }
    if isRemoved { #expect(a.isEmpty && c.isEmpty && e.isEmpty, place) }
  }
}
#endif
