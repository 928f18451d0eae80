import Foundation
import Measuring

/// Uploads of a large file to nginx, each in a separate process, so that the peak memory can be measured.
enum Transfers {
  static func compare(mebibytes: Int, runs: Int) async throws {
    let server = try Nginx(mebibytes: mebibytes)
    defer { server.stop() }
    let path = server.folder.appending(path: "files/big").path
    let rows = try await One.compared(runs, ["up", "\(server.port)", path])
    Uploads.report(rows, "\(mebibytes) MiB up through nginx", size: Double(mebibytes) * 1.048576)
  }
}

/// The time from the start of a process to its end after the first decoded response.
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
