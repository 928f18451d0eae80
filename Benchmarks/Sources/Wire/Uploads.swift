import Foundation
import Measuring
import Uploading

/// Uploads of a large file to a server that discards it, each in a separate process.
enum Uploads {
  static func compare(mebibytes: Int, runs: Int) async throws {
    let files = try Nginx(mebibytes: mebibytes)
    defer { files.stop() }
    let server = try ServerProcess(["sink"])
    defer { server.stop() }
    let path = files.folder.appending(path: "files/big").path
    let size = Double(mebibytes) * 1.048576
    for what in ["up", "multipart"] {
      for kibibytes in [256, 512] {
        let rows = try await One.compared(runs, [what, "\(server.port)", path, "\(kibibytes)"])
        let title = "\(mebibytes) MiB \(what), discarded, async-http-client with pieces of \(kibibytes) KiB"
        report(rows, title, size: size)
      }
    }
  }

  /// - Parameter size: the number of megabytes.
  static func report(_ rows: [(raw: One.Figures, apus: One.Figures)], _ title: String, size: Double) {
    print("\(title): \(rows.count) interleaved runs; median [lowest, highest]")
    Measuring.report("async-http-client, MB/s", rows.map { size / $0.raw.seconds }, digits: 0)
    Measuring.report("Apus, MB/s", rows.map { size / $0.apus.seconds }, digits: 0)
    Measuring.report("  ratio", rows.map { $0.raw.seconds / $0.apus.seconds })
    Measuring.report("  ratio of processor time", rows.map { $0.apus.processor / $0.raw.processor })
    Measuring.report("async-http-client, peak MiB", rows.map(\.raw.peak), digits: 1)
    Measuring.report("Apus, peak MiB", rows.map(\.apus.peak), digits: 1)
  }
}

/// Downloads of a large file into a file, each in a separate process.
enum Downloads {
  private static let contenders: [(name: String, arguments: [String])] = [
    ("async-http-client, FileDownloadDelegate", ["raw", "down"]),
    ("async-http-client, plain writes", ["raw", "file"]),
    ("async-http-client, plain writes, flushed", ["raw", "flushed"]),
    ("Apus, plain writes", ["apus", "down"]),
    ("Apus, Client.download", ["apus", "file"]),
  ]

  static func compare(mebibytes: Int, runs: Int) async throws {
    let server = try Nginx(mebibytes: mebibytes)
    defer { server.stop() }
    let target = server.folder.appending(path: "got").path
    let rows = try await interleaved(runs) {
      try contenders.map { contender in
        // Removes the last file and flushes all writes, so that neither affects the next measurement.
        try? FileManager.default.removeItem(atPath: target)
        sync()
        return try One.measured(contender.arguments + ["\(server.port)", target])
      }
    }
    let size = Double(mebibytes) * 1.048576
    print("\(mebibytes) MiB into a file: \(runs) interleaved runs; median [lowest, highest]")
    for (index, contender) in contenders.enumerated() {
      report("\(contender.name), MB/s", rows.map { size / $0[index].seconds }, digits: 0)
      report("  peak MiB", rows.map(\.[index].peak), digits: 1)
      report("  ratio of Client.download to it", rows.map { $0[index].seconds / $0[contenders.count - 1].seconds })
    }
  }
}
