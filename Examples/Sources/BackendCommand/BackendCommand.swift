import ArgumentParser
import Backend
import Foundation
import UnixSignals

/// Runs the backend until it is interrupted.
@main
struct BackendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backend", abstract: "A server with accounts, friends and films on 127.0.0.1.")

  @Option(help: "The port; 0 takes a free one.")
  var port = 0

  @Option(help: "The database's file; without it a temporary one is used.")
  var database: String?

  @Option(help: "How long an access token is good for, in seconds.")
  var tokenLifetime = 3600.0

  @Option(help: "How long a session lasts without a refresh, in seconds.")
  var sessionLifetime = 2_592_000.0

  @Option(help: "What the backend calls itself.")
  var name = "backend"

  @Option(help: "The key that requests for films must show.")
  var apiKey = "demo-key"

  @Option(help: "How many friends a new account starts with.")
  var friends = 40

  @Option(help: "How long every answer is held back, in milliseconds.")
  var latency = 0

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
    guard (0.001...1e9).contains(tokenLifetime) else { throw ValidationError("--token-lifetime must be positive.") }
    guard (0.001...1e9).contains(sessionLifetime) else { throw ValidationError("--session-lifetime must be positive.") }
    guard (0...10_000).contains(friends) else { throw ValidationError("--friends must be from 0 to 10000.") }
    guard (0...60_000).contains(latency) else { throw ValidationError("--latency must be from 0 to 60000.") }
  }

  func run() async throws {
    // Trapped before anything is started, so that an early interrupt stops it properly, too.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let backend = try await Backend.start(options)
    say("\(backend.baseURL)\n\(name) is listening; API key for films: \(apiKey). Ctrl-C stops it.\n")
    for await _ in signals { break }
    await backend.stop()
  }

  /// Unbuffered, unlike `print`: a script that starts the backend reads the address from the first line.
  private func say(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  private var options: Backend.Options {
    var options = Backend.Options()
    options.port = port
    options.database = database
    options.tokenLifetime = .seconds(tokenLifetime)
    options.sessionLifetime = .seconds(sessionLifetime)
    options.name = name
    options.apiKey = apiKey
    options.friendsPerAccount = friends
    options.latency = .milliseconds(latency)
    return options
  }
}
