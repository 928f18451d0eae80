import Apus
import ApusTesting

/// What the clients of a server do when a call fails.
enum Fleet: String, Sendable, CaseIterable {
  /// Nothing is tried again.
  case none
  /// Everything is, as many write it: ``NaiveRetry``.
  case naive
  /// What an app's client does by default: retry with its budget, and a breaker.
  case ours

  /// How long somebody waits for an answer before it is no use any more.
  static let patience = Duration.seconds(2)

  /// A client on a device of its own. All else is the same for each fleet: scheduler, deadlines, link.
  func client(of server: SimulatedServer, in world: SimulatedWorld) -> Client {
    var configuration = Configuration(baseURL: server.baseURL)
    configuration.suit(.app)
    configuration.attemptTimeout = Self.patience
    configuration.settings = world.settings(configuration.settings)
    if self != .ours {
      configuration.retry = RetryPolicy.none
      configuration.breaker = nil
    }
    if self == .naive {
      configuration.customizePipeline = { $0.insert(NaiveRetry(), .after(.retry)) }
    }
    return Client(configuration: configuration, transport: world.transport())
  }
}
