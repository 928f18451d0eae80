import Hummingbird
import Logging

/// A real server with accounts, friends and films, for examples and demos.
///
/// It listens on 127.0.0.1 only, keeps its data in SQLite and a log of every exchange. It runs in the process that
/// starts it; `swift run backend` runs it on its own.
///
/// ```swift
/// let backend = try await Backend.start()
/// print(backend.baseURL)
/// // …
/// await backend.stop()
/// ```
public final class Backend: Sendable {
  /// The port it listens on.
  public let port: Int
  /// What it calls itself.
  public let name: String
  /// What it was asked and what it answered.
  public let log: ExchangeLog

  private let connections: Connections
  private let run: Task<Void, Never>

  /// Where it is reached: `http://127.0.0.1:PORT`.
  public var baseURL: String { "http://127.0.0.1:\(port)" }

  private init(port: Int, name: String, log: ExchangeLog, connections: Connections, run: Task<Void, Never>) {
    self.port = port
    self.name = name
    self.log = log
    self.connections = connections
    self.run = run
  }

  deinit {
    connections.close()
    run.cancel()
  }

  /// Starts a backend.
  ///
  /// - Parameter options: How it is set up.
  /// - Returns: The backend, once it listens.
  /// - Throws: ``InvalidOption``; other errors when the port is taken, or the database cannot be opened.
  public static func start(_ options: Options = Options()) async throws -> Backend {
    try options.check()
    let database = try Database(path: options.database)
    do {
      try await FilmStore(database: database).seed()
    } catch {
      database.close()
      throw error
    }
    let log = ExchangeLog(capacity: options.logCapacity)
    let connections = Connections()
    let (outcomes, outcome) = AsyncStream<Result<Int, any Error>>.makeStream()
    let application = Assembly(options: options, database: database, log: log, connections: connections)
      .application { port in outcome.yield(.success(port)) }
    let run = Task {
      do {
        try await application.run()
      } catch {
        // After the start nobody waits for this: a cancelled server ends with an error, too.
        outcome.yield(.failure(error))
      }
      outcome.finish()
      database.close()
    }
    guard let first = await outcomes.first(where: { _ in true }) else {
      run.cancel()
      throw CancellationError()
    }
    do {
      return Backend(port: try first.get(), name: options.name, log: log, connections: connections, run: run)
    } catch {
      await run.value
      throw error
    }
  }

  /// Stops the backend: closes every connection, ends every exchange and removes a temporary database.
  ///
  /// Returns when all of this is done; a second call waits for the first.
  public func stop() async {
    connections.close()
    run.cancel()
    await run.value
  }

  /// What the log shows of a secret, so that a client can tell its own credentials in it.
  public static func fingerprint(of secret: String) -> String { Redaction.fingerprint(of: secret) }
}
