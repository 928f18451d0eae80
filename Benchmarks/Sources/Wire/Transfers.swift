import Foundation

/// A large file down and up, each in a process of its own, so that its peak memory is its own.
enum Transfers {
  static func compare(mebibytes: Int, runs: Int) throws {
    let server = try Nginx(mebibytes: mebibytes)
    defer { server.stop() }
    let files = server.folder.appending(path: "files")
    for (what, path) in [("down", "\(server.folder.path)/got"), ("up", files.appending(path: "big").path)] {
      var rows: [(raw: [Double], apus: [Double])] = []
      for run in 0...runs {
        let row = (
          raw: try One.measured(["raw", what, "\(server.port)", path]),
          apus: try One.measured(["apus", what, "\(server.port)", path])
        )
        if run > 0 { rows.append(row) }
      }
      let size = Double(mebibytes) * 1.048576
      print("\(mebibytes) MiB \(what): \(runs) interleaved runs; median [lowest, highest]")
      Table.report("async-http-client, MB/s", rows.map { size / $0.raw[0] }, digits: 0)
      Table.report("Apus, MB/s", rows.map { size / $0.apus[0] }, digits: 0)
      Table.report("  ratio", rows.map { $0.raw[0] / $0.apus[0] })
      Table.report("async-http-client, peak MiB", rows.map { $0.raw[1] }, digits: 1)
      Table.report("Apus, peak MiB", rows.map { $0.apus[1] }, digits: 1)
    }
  }
}

/// From the start of a process to its end with the first decoded answer.
enum ColdStart {
  static func compare(runs: Int) throws {
    let server = try Nginx()
    defer { server.stop() }
    var rows: [(raw: [Double], apus: [Double])] = []
    for run in 0...runs {
      let row = (
        raw: try One.measured(["raw", "small", "\(server.port)"]),
        apus: try One.measured(["apus", "small", "\(server.port)"])
      )
      if run > 0 { rows.append(row) }
    }
    print("cold start: \(runs) interleaved runs; median [lowest, highest]")
    Table.report("async-http-client, ms to the first answer", rows.map { $0.raw[0] * 1e3 })
    Table.report("Apus, ms to the first answer", rows.map { $0.apus[0] * 1e3 })
    Table.report("  ratio", rows.map { $0.apus[0] / $0.raw[0] })
    Table.report("async-http-client, ms of the whole process", rows.map { $0.raw[3] / 1e3 })
    Table.report("Apus, ms of the whole process", rows.map { $0.apus[3] / 1e3 })
    Table.report("  ratio", rows.map { $0.apus[3] / $0.raw[3] })
  }
}
