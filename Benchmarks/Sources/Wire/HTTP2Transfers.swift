import Foundation
import Measuring
import Uploading

/// Transfers of large content over one HTTP/2 connection, each in a separate process, after a transfer that warms up.
enum HTTP2Transfers {
  /// A kind of transfer: a download that is not kept, an upload from memory, or an upload of a file.
  enum Kind: String {
    case down, up, file
  }

  /// A contender: a client by its name, or `nil` for h2load.
  private struct Way: Hashable {
    let title: String
    let name: String?

    static let raw = Way(title: "async-http-client", name: "raw")
    static let apus = Way(title: "Apus", name: "apus")
    static let tool = Way(title: "h2load", name: nil)
  }

  /// The cost of a transfer.
  private struct Cost {
    let seconds: Double
    /// The processor time in seconds.
    let processor: Double
    /// The peak memory of the process in MiB: after a small call, and after the transfers.
    var small = 0.0
    var peak = 0.0
  }

  /// Compares downloads from nginx and nghttpd, and uploads to nghttpd.
  static func compare(mebibytes: Int, runs: Int) async throws {
    let nginx = try Nginx(mebibytes: mebibytes, isSecure: true)
    defer { nginx.stop() }
    let nghttpd = try Nghttpd(nginx)
    defer { nghttpd.stop() }
    printHead("\(runs) interleaved runs, \(mebibytes) MiB")
    let rows: [(title: String, kind: Kind, port: Int)] = [
      ("download, nginx", .down, nginx.port), ("download, nghttpd", .down, nghttpd.port),
      ("upload from memory, nghttpd", .up, nghttpd.port), ("upload of a file, nghttpd", .file, nghttpd.port),
    ]
    for row in rows {
      let ways = [Way.raw, .apus] + (H2load.isInstalled ? [.tool] : [])
      let costs = try await alternating(runs, ways) { try cost(of: $0, row.kind, nginx, port: row.port) }
      report(row.title, costs, megabytes: Double(mebibytes) * 1.048576)
    }
  }

  /// Compares downloads from nginx through a relay.
  ///
  /// - Parameter roundTrip: the round-trip time in milliseconds.
  static func compareDistant(mebibytes: Int, roundTrip: Int, runs: Int) async throws {
    let nginx = try Nginx(mebibytes: mebibytes, isSecure: true)
    defer { nginx.stop() }
    let relay = try ServerProcess(["http2", "relay-to", "\(nginx.port)", "\(roundTrip)"])
    defer { relay.stop() }
    printHead(
      "\(runs) interleaved runs, \(mebibytes) MiB, a round trip of \(roundTrip) ms; ratios to async-http-client")
    let costs = try await alternating(runs, [Way.raw, .apus]) { try cost(of: $0, .down, nginx, port: relay.port) }
    report("download, relay", costs, megabytes: Double(mebibytes) * 1.048576)
  }

  private static func cost(of way: Way, _ kind: Kind, _ nginx: Nginx, port: Int) throws -> Cost {
    let big = nginx.folder.appending(path: "files/big").path
    guard let name = way.name else {
      let url = "https://127.0.0.1:\(port)/"
      let options = ["-n", "1", "-c", "1", "-m", "1"] + (kind == .down ? [url + "big"] : ["-d", big, url + "up"])
      let (seconds, processor) = try H2load.run(options)
      return Cost(seconds: seconds, processor: processor / 1e6)
    }
    let certificate = Certificate(at: nginx.folder).path
    let figures = try One.figures(of: ["http2", "one", name, kind.rawValue, "\(port)", certificate, big])
    guard figures.count == 4 else { throw Unexpected() }
    return Cost(seconds: figures[0], processor: figures[1], small: figures[2], peak: figures[3])
  }

  /// Makes a small call and two transfers. Prints the cost of the second one. The arguments are `raw` or `apus`, a
  /// kind, the port, and the paths of the certificate and of the file.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 5, let kind = Kind(rawValue: arguments[1]), let port = Int(arguments[2]) else { return }
    let server = SecureServer(port: port, certificate: arguments[3])
    let contender: any Contender = arguments[0] == "raw" ? Raw(server) : try Typed(server)
    _ = try await contender.person()
    let small = try Used.peakOfProgram
    let transfer: () async throws -> Void
    switch kind {
    case .down: transfer = contender.receive
    case .up: transfer = try contender.upload(of: Data(contentsOf: URL(fileURLWithPath: arguments[4])))
    case .file: transfer = { try await contender.upload(arguments[4]) }
    }
    try await transfer()
    let (before, start) = (Used.now.processor, ContinuousClock.now)
    try await transfer()
    let seconds = start.duration(to: .now).microseconds / 1e6
    print("\(seconds) \((Used.now.processor - before) / 1e6) \(small) \(try Used.peakOfProgram)")
    try await contender.end()
  }

  private static func printHead(_ title: String) {
    print(
      """
      \(title); medians and lowest figures, with their ratios to the first contender; peak memory above a small call

      | transfer | contender | CPU ms | CPU ratio | lowest ms | lowest ratio | MB/s | speed ratio | MiB |
      |---|---|---|---|---|---|---|---|---|
      """)
  }

  private static func report(_ title: String, _ costs: [Way: [Cost]], megabytes: Double) {
    func median(_ way: Way, _ figure: (Cost) -> Double) -> Double {
      let sorted = (costs[way] ?? []).map(figure).sorted()
      return sorted[sorted.count / 2]
    }
    func lowest(_ way: Way) -> Double { (costs[way] ?? []).map(\.processor).min() ?? 0 }
    let (base, speed) = (median(.raw, \.processor), megabytes / median(.raw, \.seconds))
    for way in [Way.raw, .apus, .tool] where costs[way] != nil {
      let (processor, rate) = (median(way, \.processor), megabytes / median(way, \.seconds))
      let cells = [
        String(format: "%.1f", processor * 1e3), String(format: "%.2f", processor / base),
        String(format: "%.1f", lowest(way) * 1e3), String(format: "%.2f", lowest(way) / lowest(.raw)),
        String(format: "%.0f", rate), String(format: "%.2f", rate / speed),
        way == .tool ? "" : String(format: "%.1f", median(way) { $0.peak - $0.small }),
      ]
      print("| \(title) | \(way.title) | \(cells.joined(separator: " | ")) |")
    }
    fflush(nil)
  }
}

extension Used {
  /// The peak memory in MiB since this program was loaded. `getrusage` includes the parent's memory from before.
  fileprivate static var peakOfProgram: Double {
    get throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
      else { throw Unexpected() }
      return kibibytes / 1024
    }
  }
}
