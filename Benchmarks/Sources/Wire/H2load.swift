import Foundation
import Measuring

/// The load generator of nghttp2, a client in C that does not look at responses: the cost of the protocol alone.
enum H2load {
  static let isInstalled = (try? run(["--version"])) != nil

  /// Makes calls on one connection.
  static func cost(_ url: String, calls: Int, inFlight: Int) throws -> HTTP2Calls.Cost {
    let options = ["-n", "\(calls)", "-c", "1", "-m", "\(inFlight)", "-H", "accept: application/json"]
    let (seconds, processor) = try run(options + [url])
    return HTTP2Calls.Cost(processor: processor / Double(calls), wall: seconds * 1e6 / Double(calls), writes: nil)
  }

  /// Returns the seconds of the load, and the processor time of the process in microseconds.
  static func run(_ arguments: [String]) throws -> (seconds: Double, processor: Double) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["h2load"] + arguments
    process.standardOutput = output
    let before = Used.processorOfChildren
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0, !text.contains("failed, 0 done") else { throw Unexpected() }
    // The line is: finished in 25.86ms, 2474.61 req/s, 523.30KB/s
    let rate = text.firstMatch(of: #/finished in ([0-9.]+)(us|ms|s),/#)
    let units = ["us": 1e-6, "ms": 1e-3, "s": 1]
    let seconds = rate.flatMap { match in Double(match.1).map { $0 * (units[String(match.2)] ?? 0) } } ?? 0
    return (seconds, Used.processorOfChildren - before)
  }
}
