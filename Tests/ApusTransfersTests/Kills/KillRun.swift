#if os(Linux)
import Foundation
import TestSupport
import Testing

/// The actions of a process that may have been killed.
struct KillRun {
  /// The lines that the process printed.
  let lines: [String]
  /// The changes that the process made: the function and the path of each.
  let changes: [String]

  /// Whether the process performed all steps.
  var isComplete: Bool { lines.last == "close" || lines.last == "run" || lines.last == "cancel" }
  var error: String? { lines.first { $0.hasPrefix("error") } }
  /// The process's reports of complete transfers to the app, each with the number of bytes.
  var reported: [String] { lines.filter { $0.hasPrefix("reported ") } }
  /// The files in the store at the start of the process.
  var listed: String { lines.first { $0.hasPrefix("listed") } ?? "" }

  /// Whether the store had the record of an upload when the process began.
  var listsUpload: Bool {
    listed.split(separator: " ").contains { $0.hasSuffix(".json") && !$0.hasPrefix("transfer-") }
  }

  /// Returns how many times a function changed files whose names satisfy a condition.
  func count(_ function: String, where condition: (String) -> Bool) -> Int {
    changes.count { change in
      change.hasPrefix("\(function) ") && condition(change.split(separator: "/").last.map(String.init) ?? "")
    }
  }

  /// The number of times that the record of the transfer was written.
  var transferWrites: Int { count("renameat") { $0.hasPrefix("transfer-") && $0.hasSuffix(".json.new") } }
  var removesTransfer: Bool { count("unlinkat") { $0.hasPrefix("transfer-") && $0.hasSuffix(".json") } > 0 }
  /// Whether the record of an upload was written.
  var writesUpload: Bool { count("renameat") { !$0.hasPrefix("transfer-") && $0.hasSuffix(".json.new") } > 0 }
  var removesUpload: Bool { count("unlinkat") { !$0.hasPrefix("transfer-") && $0.hasSuffix(".json") } > 0 }
  var removesFile: Bool { count("unlinkat") { $0.hasSuffix(".apus-part") } > 0 }
}

/// A transfer whose process a test kills: its file, its store and its server.
struct KillBench {
  let variant: KillVariant
  let server: KillServer
  let folder: String

  var path: String { folder + "/files/film.mp4" }
  var store: String { folder + "/state" }
  var files: [String] { Self.names(folder + "/files") }
  var records: [String] { Self.names(store) }
  /// The bytes of the file. `nil`: the file does not exist.
  var bytes: Data? { FileManager.default.contents(atPath: path) }

  static func with(_ variant: KillVariant, _ test: (KillBench) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-kills-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await KillServer.with(variant) { server in
      let bench = KillBench(variant: variant, server: server, folder: folder)
      if !variant.isDownload { try variant.content.write(to: URL(filePath: bench.path)) }
      try await test(bench)
    }
  }

  private static func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// Runs a process to its end.
  ///
  /// - Parameter number: the number of the change before which the process is killed. Default: `nil`, never.
  func run(_ steps: String, killedAt number: Int? = nil) async throws -> KillRun {
    let report = folder + "/report-\(UUID())"
    var environment = [
      "LD_PRELOAD": try #require(KillPoints.library), "APUS_KILL_REPORT": report,
      "APUS_KILL_FOLDERS": "\(folder)/files:\(store)",
    ]
    if let number { environment["APUS_KILL_AT"] = "\(number)" }
    let process = try WorkerProcess(
      .transfers, environment: environment, "steps", steps, variant.rawValue, server.url, path, store)
    var lines: [String] = []
    _ = await process.line { line in
      lines.append(line)
      return false
    }
    let text = FileManager.default.contents(atPath: report).map { String(decoding: $0, as: UTF8.self) } ?? ""
    var changes = text.split(separator: "\n").map(String.init)
    // The process was killed before the last change.
    if let number, changes.count >= number { changes.removeSubrange((number - 1)...) }
    return KillRun(lines: lines, changes: changes)
  }
}
#endif
