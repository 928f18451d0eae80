import Foundation
import Measuring

/// Download and upload of a large file, each in a separate process to measure its peak memory.
enum Transfers {
  static func compare(mebibytes: Int, runs: Int) async throws {
    let server = try Nginx(mebibytes: mebibytes)
    defer { server.stop() }
    let files = server.folder.appending(path: "files")
    for (what, path) in [("down", "\(server.folder.path)/got"), ("up", files.appending(path: "big").path)] {
      let rows = try await One.compared(runs, [what, "\(server.port)", path])
      let size = Double(mebibytes) * 1.048576
      print("\(mebibytes) MiB \(what): \(runs) interleaved runs; median [lowest, highest]")
      report("async-http-client, MB/s", rows.map { size / $0.raw.seconds }, digits: 0)
      report("Apus, MB/s", rows.map { size / $0.apus.seconds }, digits: 0)
      report("  ratio", rows.map { $0.raw.seconds / $0.apus.seconds })
      report("async-http-client, peak MiB", rows.map(\.raw.peak), digits: 1)
      report("Apus, peak MiB", rows.map(\.apus.peak), digits: 1)
    }
  }
}

/// From the start of a process to its end after the first decoded response.
enum ColdStart {
  static func compare(runs: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let rows = try await One.compared(runs, ["small", "\(server.port)"])
    print("cold start: \(runs) interleaved runs; median [lowest, highest]")
    for (what, value) in [("to the first response", \One.Figures.seconds), ("of the whole process", \.whole)] {
      report("async-http-client, ms \(what)", rows.map { $0.raw[keyPath: value] * 1e3 })
      report("Apus, ms \(what)", rows.map { $0.apus[keyPath: value] * 1e3 })
      report("  ratio", rows.map { $0.apus[keyPath: value] / $0.raw[keyPath: value] })
    }
  }
}
