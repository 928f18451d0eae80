import ArgumentParser
import Backend
import Dispatch
import Foundation

/// The command `backend`, which runs the server until it is interrupted.
@main
struct BackendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backend", abstract: "Runs a server with accounts, friends, films and news on 127.0.0.1.")

  @Option(help: "The port; 0 selects a free one.")
  var port = 0

  @Option(help: "The database file. Default: a temporary one.")
  var database: String?

  @Option(help: "The lifetime of access tokens, in seconds.")
  var tokenLifetime = 3600.0

  @Option(help: "The lifetime of a session without a refresh, in seconds.")
  var sessionLifetime = 2_592_000.0

  @Option(help: "The name of the server.")
  var name = "backend"

  @Option(help: "The API key of films and analytics.")
  var apiKey = "demo-key"

  @Option(help: "The number of friends of a new account.")
  var friends = 40

  @Option(help: "The delay of every response, in milliseconds.")
  var latency = 0

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
    guard (0.001...1e9).contains(tokenLifetime) else { throw ValidationError("--token-lifetime must be positive.") }
    guard (0.001...1e9).contains(sessionLifetime) else { throw ValidationError("--session-lifetime must be positive.") }
    guard (0...10_000).contains(friends) else { throw ValidationError("--friends must be from 0 to 10000.") }
    guard (0...60_000).contains(latency) else { throw ValidationError("--latency must be from 0 to 60000.") }
  }

  func run() async throws {
    // Signals are handled before the start, so that an early interrupt also stops the server properly.
    let (signals, sources) = Self.signals()
    defer { for source in sources { source.cancel() } }
    let backend = try await Backend.start(options)
    printNow("\(backend.baseURL)\n\(name) is listening; API key: \(apiKey). Press Ctrl-C to stop.\n")
    for await _ in signals { break }
    await backend.stop()
  }

  /// Returns a sequence of interrupts, and the sources that feed it until they are cancelled.
  private static func signals() -> (AsyncStream<Void>, [any DispatchSourceSignal]) {
    let (signals, received) = AsyncStream<Void>.makeStream()
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { received.yield() }
      source.resume()
      return source
    }
    return (signals, sources)
  }

  /// Prints a text without buffering, unlike `print`, because scripts read the address from the first line.
  private func printNow(_ text: String) {
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
