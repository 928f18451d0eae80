public import Foundation

extension Backend {
  /// How a backend is set up.
  public struct Options: Sendable {
    /// What the backend calls itself: in the `Server` field, the realm of challenges and the answer to `GET /`.
    public var name = "backend"
    /// The port on 127.0.0.1; 0 takes a free one.
    public var port = 0
    /// The database's file; `nil` for a temporary one that goes when the backend stops.
    public var database: String?
    /// How long an access token is good for; fractions of a second count.
    public var tokenLifetime: Duration = .seconds(3600)
    /// Whether clients are told how long that is, in `expires_in`; otherwise a 401 tells them when it is over.
    public var tellsTokenLifetime = true
    /// How long a session lasts without a refresh: how long a refresh token is good for.
    public var sessionLifetime: Duration = .seconds(30 * 24 * 3600)
    /// The key that requests for films must show.
    public var apiKey = "demo-key"
    /// How many friends a new account starts with.
    public var friendsPerAccount = 40
    /// How long every answer is held back; the log's own routes are not.
    public var latency: Duration = .zero
    /// Holds single answers back until it is told to let them go. Default: one that holds none.
    public var held = HeldAnswers()
    /// Loses single answers once the work for them is done. Default: one that loses none.
    public var lost = LostAnswers()
    /// scrypt's N for new passwords, a power of two.
    ///
    /// The default takes 16 MiB and, in a debug build, a third of a second for each sign-up and sign-in. Tests set 2.
    public var passwordHashRounds = 16_384
    /// How many exchanges the log keeps.
    public var logCapacity = 10_000
    /// The time of day; tests put their own clock here.
    public var now: @Sendable () -> Date = { Date() }

    /// The defaults.
    public init() {}

    /// - Throws: ``InvalidOption`` for what would fail only later, or not at all.
    func check() throws(InvalidOption) {
      guard (0...65_535).contains(port) else { throw InvalidOption(name: "port") }
      guard tokenLifetime > .zero else { throw InvalidOption(name: "tokenLifetime") }
      guard sessionLifetime > .zero else { throw InvalidOption(name: "sessionLifetime") }
      guard (2...1_048_576).contains(passwordHashRounds), passwordHashRounds.nonzeroBitCount == 1 else {
        throw InvalidOption(name: "passwordHashRounds")
      }
    }
  }

  /// An option that is out of its range.
  public struct InvalidOption: Error, Equatable {
    /// Which one.
    public let name: String
  }
}
