#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import ApusCredentials
@testable import ApusMiddleware

@Suite("Several processes with one cookie file", .timeLimit(.minutes(20)))
struct CookieProcessesTests {
  /// The values of the cookies in the file.
  private func cookies(in place: CredentialsFolder) throws -> [String] {
    let jar = try CookieJar(file: place.file, key: .file(place.keyFile), account: "test")
    return jar.saved.items.map(\.value)
  }

  @Test("Of processes that write at the same time the last one wins, and the file is always complete")
  func together() async throws {
    try await CredentialsFolder.with { place in
      let workers = try (0..<3).map { _ in
        try WorkerProcess(.credentials, "cookies", place.file, place.keyFile, "40")
      }
      for worker in workers { #expect(try await worker.line() == "opened") }
      var lasts: [String] = []
      for worker in workers {
        while let line = try? await worker.line() {
          lasts.append(line)
          _ = try cookies(in: place)
        }
        await worker.waitUntilEnd()
      }
      #expect(lasts.count { $0 == "0" } == 3 && !lasts.contains { $0.hasPrefix("error") })
      #expect(try cookies(in: place) == ["0"])
      #expect(place.names == ["credentials"])
    }
  }

  @Test(
    "A process that is killed before any change of the file system leaves the cookies before or after the call",
    .enabled(if: KillPoints.library != nil, "clang, cc or gcc must compile scripts/kill-points.c"))
  func killed() async throws {
    let count = KillPoints.isExhaustive ? 90 : 8
    let changes = try await changes(count)
    let points = KillPoints.isExhaustive ? changes : min(changes, 20)
    if KillPoints.isExhaustive { print("cookies: killed before each of \(changes) changes") }
    for point in 0..<points {
      try await kill(at: 1 + point * changes / points, of: count)
    }
  }

  private func worker(_ place: CredentialsFolder, _ count: Int, _ environment: [String: String]) throws -> WorkerProcess
  {
    let all = [
      "LD_PRELOAD": try #require(KillPoints.library), "APUS_KILL_FOLDERS": place.folder,
    ].merging(environment) { $1 }
    return try WorkerProcess(
      .credentials, environment: all, "cookies", place.file, place.keyFile, "\(count)")
  }

  /// Returns the number of changes of a process that is not killed.
  private func changes(_ count: Int) async throws -> Int {
    var changes = 0
    try await CredentialsFolder.with { place in
      let report = FileManager.default.temporaryDirectory.path + "/apus-cookies-\(UUID())"
      defer { try? FileManager.default.removeItem(atPath: report) }
      let worker = try worker(place, count, ["APUS_KILL_REPORT": report])
      await worker.waitUntilEnd()
      changes = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n").count
    }
    return try #require(changes > count * 3 ? changes : nil)
  }

  private func kill(at point: Int, of count: Int) async throws {
    try await CredentialsFolder.with { place in
      let worker = try worker(place, count, ["APUS_KILL_AT": "\(point)"])
      var lines: [String] = []
      while let line = try? await worker.line() { lines.append(line) }
      await worker.waitUntilEnd()
      let stored = try cookies(in: place)
      let comment: Comment = "killed before change \(point), after \(lines.suffix(2)): the file has \(stored)"
      func after(_ calls: Int) -> [String] { calls == 0 ? [] : ["\(calls)"] }
      let expected: [[String]] =
        switch lines.last {
        case nil, "opened": [after(0), after(1)]
        case "\(count)": [after(count), []]
        case "signed out": [[], ["0"]]
        case "0": [["0"]]
        case let line?: Int(line).map { [after($0), after($0 + 1)] } ?? []
        }
      #expect(expected.contains(stored), comment)
      #expect(place.names == ["credentials"], comment)
    }
  }
}
#endif
