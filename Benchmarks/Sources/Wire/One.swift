import Apus
import ApusNIO
import Foundation

/// One thing done once in a process of its own, which tells at its end what it took.
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
    print("\(seconds) \(Used.now.peak) \(Used.now.processor)")
  }

  /// Starts this program to do one thing; gives the seconds it took by its own clock, its peak memory in MiB, its
  /// processor time in µs and the whole process's time in µs.
  static func measured(_ arguments: [String]) throws -> [Double] {
    let start = ContinuousClock.now
    let figures = try figures(of: ["one"] + arguments)
    guard figures.count == 3 else { throw CocoaError(.executableLoad) }
    return figures + [start.duration(to: .now).microseconds]
  }

  /// Starts this program with other arguments, and gives the figures that it prints.
  static func figures(of arguments: [String]) throws -> [Double] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  }
}
