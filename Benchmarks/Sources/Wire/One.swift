import Apus
import ApusNIO
import Foundation
import Measuring

/// A single operation in a separate process, which prints its cost.
enum One {
  /// `NAME` is `raw` or `apus`; a path, and the KiB of the pieces of an upload with `raw`, may follow. `WHAT` is
  /// `small`, `up`, `multipart` or a way to download.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count >= 3, let port = Int(arguments[2]) else { return }
    let pieceSize = (arguments.count > 4 ? Int(arguments[4]) ?? 256 : 256) << 10
    let contender: any Contender =
      arguments[0] == "raw" ? Raw(port: port, pieceSize: pieceSize) : try Typed(port: port)
    let start = ContinuousClock.now
    switch arguments[1] {
    case "small": _ = try await contender.person()
    case "up": try await contender.upload(arguments[3])
    case "multipart": try await contender.multipart(arguments[3])
    case let way:
      guard let way = Download(rawValue: way) else { throw Unexpected() }
      try await contender.download(to: arguments[3], by: way)
    }
    let seconds = start.duration(to: .now).microseconds / 1e6
    let used = Used.now
    print("\(seconds) \(used.peak) \(used.processor / 1e6)")
    try await contender.end()
  }

  /// The cost of an operation in its process.
  struct Figures {
    /// Wall time within the process.
    let seconds: Double
    /// The peak memory in MiB.
    let peak: Double
    /// The processor time of the process in seconds.
    let processor: Double
    /// The seconds from the start of the process to its end.
    let whole: Double
  }

  /// Runs both contenders alternately, each time in a new process with the arguments `WHAT PORT …`.
  static func compared(_ runs: Int, _ arguments: [String]) async throws -> [(raw: Figures, apus: Figures)] {
    try await interleaved(runs) {
      (raw: try measured(["raw"] + arguments), apus: try measured(["apus"] + arguments))
    }
  }

  static func measured(_ arguments: [String]) throws -> Figures {
    let start = ContinuousClock.now
    let figures = try figures(of: ["one"] + arguments)
    guard figures.count == 3 else { throw Unexpected() }
    return Figures(
      seconds: figures[0], peak: figures[1], processor: figures[2], whole: start.duration(to: .now).microseconds / 1e6)
  }

  /// Runs this program with other arguments. Returns the figures that it prints.
  static func figures(of arguments: [String]) throws -> [Double] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Unexpected() }
    return String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  }
}
