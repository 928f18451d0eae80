import Apus
import ArgumentParser
import Demo
import Foundation

/// The command `demo`.
@main
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Plays small apps against real servers and checks the servers' logs.",
    discussion: "Exits with status 1 when an expectation is not met.")

  @Option(help: "A running backend to use as the staging server, started with --latency 150.")
  var baseURL: String?

  @Option(help: "A running backend to use as the production server.")
  var productionURL: String?

  @Option(help: "The API key of running backends.")
  var apiKey = "demo-key"

  @Option(name: .customLong("break"), help: .hidden)
  var broken: String?

  @Option(help: .hidden)
  var latency = 150

  @Option(help: .hidden)
  var passwordHashRounds = 16_384

  @Option(help: .hidden)
  var restoreSession: String?

  @Option(help: .hidden)
  var restoreSignIn: String?

  @Option(help: .hidden)
  var startOffline: String?

  @Option(help: .hidden)
  var account = ""

  @Option(help: .hidden)
  var checkout = Self.ownCheckout

  func run() async throws {
    if let restoreSession {
      let app = RestartableApp(folder: restoreSession, server: try BaseURL(baseURL ?? ""))
      print(try await app.accountName())
      return
    }
    if let restoreSignIn {
      let app = try await BrowserApp.started(in: restoreSignIn, server: try BaseURL(baseURL ?? ""))
      print(try await app.accountName())
      return
    }
    if let startOffline {
      let app = FriendsApp(on: startOffline, account: account, server: try BaseURL(baseURL ?? ""))
      print(try await app.startOffline())
      return
    }
    let isSuccess = try await Demo.play(options) { FileHandle.standardOutput.write(Data($0.utf8)) }
    if !isSuccess { throw ExitCode.failure }
  }

  private var options: DemoOptions {
    var options = DemoOptions()
    options.stagingURL = baseURL
    options.productionURL = productionURL
    options.apiKey = apiKey
    options.broken = broken
    options.checkout = checkout
    let environment = ProcessInfo.processInfo.environment
    options.requiresServers = environment["APUS_SERVERS"] == "required" || environment["CI"] == "true"
    options.latency = .milliseconds(latency)
    options.passwordHashRounds = passwordHashRounds
    options.isTerminal = isatty(STDOUT_FILENO) == 1
    options.hasColor = options.isTerminal && environment["NO_COLOR", default: ""].isEmpty
    if let program = Bundle.main.executableURL {
      options.runAgain = { try await Self.run(program, $0) }
    }
    return options
  }

  /// The folder of the repository from which the program was built.
  private static let ownCheckout = String(
    "\(#filePath)".dropLast("/Examples/Sources/DemoCommand/DemoCommand.swift".count))

  /// Runs a program. Returns its standard output without the last newline.
  private static func run(_ program: URL, _ arguments: [String]) async throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = arguments
    process.standardOutput = output
    let (ends, ended) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in ended.finish() }
    try process.run()
    for await _ in ends {}
    guard process.terminationStatus == 0 else { throw ExitCode(process.terminationStatus) }
    // The lines fit in the pipe's buffer, so they can be read after the program has ended.
    let bytes = output.fileHandleForReading.availableData
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}
