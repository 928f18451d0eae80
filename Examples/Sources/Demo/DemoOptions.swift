/// How the demo is played.
public struct DemoOptions: Sendable {
  /// A running backend to take as the staging server; `nil`: one in this process.
  public var stagingURL: String?
  /// A running backend to take as the production server; `nil`: one in this process.
  public var productionURL: String?
  /// The key for films.
  public var apiKey = "demo-key"
  /// How long the backends in this process hold every answer back, so that there is something to see.
  public var latency: Duration = .milliseconds(150)
  /// scrypt's N of the backends in this process.
  public var passwordHashRounds = 16_384
  /// The name of an expectation to break.
  public var broken: String?
  /// Whether to print colours and leave time to read.
  public var isTerminal = false

  /// The defaults.
  public init() {}
}
