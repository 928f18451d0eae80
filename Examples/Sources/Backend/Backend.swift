public import Foundation

/// An HTTP server with accounts, an authorization server, friends, films, news and analytics, for examples and demos.
///
/// It listens on 127.0.0.1 only, stores its data in SQLite and logs every exchange. It runs in the process that
/// starts it; `swift run backend` runs it in a separate process.
///
/// ```swift
/// let backend = try await Backend.start()
/// print(backend.baseURL)
/// // …
/// await backend.stop()
/// ```
public final class Backend: Sendable {
  /// The port.
  public let port: Int
  /// The name.
  public let name: String
  /// The log of all exchanges.
  public let log: ExchangeLog

  private let connections: Connections
  private let run: Task<Void, Never>

  /// The address: `http://127.0.0.1:PORT`.
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
  /// - Parameter options: the options. Default: the defaults of ``Options``.
  /// - Returns: the backend, listening.
  /// - Throws: ``InvalidOption``; other errors when the port is taken or the database cannot be opened.
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
    let server = Assembly(options: options, database: database, log: log, connections: connections).server
    let run = Task {
      do {
        try await server.run { port in outcome.yield(.success(port)) }
      } catch {
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

  /// Stops the backend: closes all connections, ends all exchanges and removes a temporary database.
  ///
  /// Returns when the backend has stopped; a second call waits for the first.
  public func stop() async {
    connections.close()
    run.cancel()
    await run.value
  }

  /// Returns the bytes of a film's file, to compare with a download.
  public static func filmContent(_ id: Int64) -> [UInt8] { FilmContentRoutes.content(of: id) }

  /// Returns the fingerprint by which the log identifies a secret, so that clients recognize their own credentials.
  public static func fingerprint(of secret: String) -> String { Redaction.fingerprint(of: secret) }
}

extension Backend {
  /// The options of a backend.
  public struct Options: Sendable {
    /// The name: used in the `Server` field, the realm of challenges and the response to `GET /`.
    public var name = "backend"
    /// The port on 127.0.0.1; 0 selects a free one.
    public var port = 0
    /// The path of the database file; `nil` for a temporary database, removed when the backend stops.
    public var database: String?
    /// The time for which access tokens are valid.
    public var tokenLifetime: Duration = .seconds(3600)
    /// Whether token responses contain the lifetime of access tokens, in `expires_in`. `false`: clients detect an expired
    /// token by a 401.
    public var sendsTokenLifetime = true
    /// The lifetime of refresh tokens, and so of a session without a refresh.
    public var sessionLifetime: Duration = .seconds(30 * 24 * 3600)
    /// The API key of films and analytics.
    public var apiKey = "demo-key"
    /// The id of the app that is registered with the authorization server; its redirect is
    /// `http://127.0.0.1:PORT/callback` with any port.
    public var clientID = "demo-app"
    /// The number of friends of a new account.
    public var friendsPerAccount = 40
    /// The delay of every response, except those of the log.
    public var latency: Duration = .zero
    /// Holds the responses that a test selects, until they are released. Default: no responses.
    public var held = HeldResponses()
    /// Loses the responses that a test selects, after the work is done. Default: no responses.
    public var lost = LostResponses()
    /// Closes connections in the middle of the responses that a test selects. Default: no responses.
    public var cut = CutResponses()
    /// The avatars; other backends can share this object. Default: no avatars.
    public var avatars = Avatars()
    /// The server's address in the avatars' URLs, for example that of another backend with the same avatars. Default:
    /// `nil`, the address to which the client sends its request.
    public var avatarAddress: String?
    /// scrypt's N for new passwords, a power of two.
    ///
    /// The default takes 16 MiB and, in a debug build, a third of a second for each sign-up and sign-in. Tests use 2.
    public var passwordHashRounds = 16_384
    /// The maximum number of rows in the log.
    public var logCapacity = 10_000
    /// Returns the current time. Default: the system's; tests use a manual clock.
    public var now: @Sendable () -> Date = { Date() }

    /// Creates the default options.
    public init() {}

    /// - Throws: ``InvalidOption``
    func check() throws(InvalidOption) {
      guard (0...65_535).contains(port) else { throw InvalidOption(name: "port") }
      guard tokenLifetime > .zero else { throw InvalidOption(name: "tokenLifetime") }
      guard sessionLifetime > .zero else { throw InvalidOption(name: "sessionLifetime") }
      guard (2...1_048_576).contains(passwordHashRounds), passwordHashRounds.nonzeroBitCount == 1 else {
        throw InvalidOption(name: "passwordHashRounds")
      }
    }
  }

  /// An option that is out of range.
  public struct InvalidOption: Error, Equatable {
    /// The option's name.
    public let name: String
  }
}
