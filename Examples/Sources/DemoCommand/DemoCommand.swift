import ArgumentParser
import Demo
import Foundation

/// Plays three small apps on real servers.
@main
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Plays three small apps on real servers and checks what arrived there.",
    discussion: "Ends with status 1 when anything arrived that was not expected, or did not arrive.")

  @Option(help: "A running backend to take as the staging server; it must hold its answers back (--latency 150).")
  var baseURL: String?

  @Option(help: "A running backend to take as the production server.")
  var productionURL: String?

  @Option(help: "The key for films.")
  var apiKey = "demo-key"

  @Option(name: .customLong("break"), help: .hidden)
  var broken: String?

  @Option(help: .hidden)
  var latency = 150

  @Option(help: .hidden)
  var passwordHashRounds = 16_384

  func run() async throws {
    let isDone = try await Demo.play(options) { FileHandle.standardOutput.write(Data($0.utf8)) }
    if !isDone { throw ExitCode.failure }
  }

  private var options: DemoOptions {
    var options = DemoOptions()
    options.stagingURL = baseURL
    options.productionURL = productionURL
    options.apiKey = apiKey
    options.broken = broken
    options.latency = .milliseconds(latency)
    options.passwordHashRounds = passwordHashRounds
    options.isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    return options
  }
}
