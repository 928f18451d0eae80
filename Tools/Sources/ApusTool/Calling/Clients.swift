import Apus
import Synchronization

/// Makes a client for each server, all on one transport.
final class Clients: Sendable {
  private struct Place: Hashable {
    var origin: Origin
    var userInformation: TargetURL.UserInformation?
  }

  private let transport: any Transport
  private let plan: ConnectionPlan
  private let observers: [any CallObserver]
  private let made = Mutex<[Place: Client]>([:])

  init(transport: any Transport, plan: ConnectionPlan, observers: [any CallObserver] = []) {
    self.transport = transport
    self.plan = plan
    self.observers = observers
  }

  /// The client for a URL's server.
  ///
  /// - Throws: `BaseURL.Malformed`; ``ProfileError`` where it is not the server that the credentials are for.
  func client(for url: TargetURL) throws -> Client {
    let place = Place(origin: url.origin, userInformation: url.userInformation)
    if let client = made.withLock({ $0[place] }) { return client }
    let client = try make(for: url)
    return made.withLock { made in
      // Another call may have been quicker.
      if let other = made[place] { return other }
      made[place] = client
      return client
    }
  }

  private func make(for url: TargetURL) throws -> Client {
    try plan.credentials?.check(url.origin)
    var configuration = Configuration(baseURL: try BaseURL(url.origin.description))
    configuration.authentication =
      (plan.credentials ?? url.userInformation.map { CredentialPlan($0) })?.authentication
    configuration.settings.observers = observers
    configuration.timeout = plan.timeout ?? configuration.timeout
    // A person or a script says what is sent, how often and how many at a time.
    configuration.retry = plan.furtherAttempts > 0 ? RetryPolicy(attempts: plan.furtherAttempts + 1) : .none
    // As often as was said, however many calls of a batch fail.
    if plan.furtherAttempts > 0 { configuration.retryBudget = .unlimited }
    (configuration.attemptTimeout, configuration.scheduler, configuration.breaker) = (nil, nil, nil)
    configuration.customizePipeline = { $0.insert(AsWritten(), .after(.validation)) }
    return Client(configuration: configuration, transport: transport)
  }
}
