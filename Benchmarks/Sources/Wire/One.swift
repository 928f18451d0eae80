import Apus
import ApusNIO
import Foundation
import Measuring

/// A single operation in a separate process, which prints its cost.
enum One {
  /// `NAME` is `raw` or `apus`; `WHAT` is `small`, `down` or `up`.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count >= 3, let port = Int(arguments[2]) else { return }
    let contender: any Contender = arguments[0] == "raw" ? Raw(port: port) : try Typed(port: port)
    let start = ContinuousClock.now
    switch arguments[1] {
    case "down": try await contender.download(to: arguments[3])
    case "up": try await contender.upload(arguments[3])
    default: _ = try await contender.small()
    }
    let seconds = start.duration(to: .now).microseconds / 1e6
    print("\(seconds) \(Used.now.peak)")
  }

  /// The cost of an operation in its process.
  struct Figures {
    /// Wall time within the process.
    let seconds: Double
    /// The peak memory in MiB.
    let peak: Double
    /// The seconds from the start of the process to its end.
    let whole: Double
  }

  /// Runs both contenders alternately, each time in a new process with the arguments `WHAT PORT …`.
  static func compared(_ runs: Int, _ arguments: [String]) async throws -> [(raw: Figures, apus: Figures)] {
    try await interleaved(runs) {
      (raw: try measured(["raw"] + arguments), apus: try measured(["apus"] + arguments))
    }
  }

  private static func measured(_ arguments: [String]) throws -> Figures {
    let start = ContinuousClock.now
    let figures = try figures(of: ["one"] + arguments)
    guard figures.count == 2 else { throw Unexpected() }
    return Figures(seconds: figures[0], peak: figures[1], whole: start.duration(to: .now).microseconds / 1e6)
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
