import Apus
import ApusAWS
import Foundation
import Synchronization

/// The clients of a command: one for each server and user, all with the same transport.
final class Clients: Sendable {
  private struct Position: Hashable {
    var origin: Origin
    /// The path and query of the base URL. Empty if requests have the complete target.
    var base: String
    var userInformation: TargetURL.UserInformation?
  }

  private let transport: any Transport
  private let plan: ConnectionPlan
  private let observers: [any CallObserver]
  private let caches: Caches?
  private let made = Mutex<[Position: Client]>([:])

  init(transport: any Transport, plan: ConnectionPlan, observers: [any CallObserver] = []) {
    self.transport = transport
    self.plan = plan
    caches = plan.cache.map { Caches($0) }
    self.observers = observers
  }

  /// Returns the client for a URL's server.
  ///
  /// - Parameter isBase: whether the targets of requests are appended to the path of the URL. Default: `false`,
  ///   requests have the complete target.
  /// - Throws: `BaseURL.ParseError`; ``ProfileError`` when the credentials belong to another server.
  func client(for url: TargetURL, isBase: Bool = false) throws -> Client {
    let base = isBase ? url.target : ""
    let place = Position(origin: url.origin, base: base, userInformation: url.userInformation)
    if let client = made.withLock({ $0[place] }) { return client }
    let client = try make(for: url, base: base)
    return made.withLock { made in
      // Another call may have created the client meanwhile.
      if let other = made[place] { return other }
      made[place] = client
      return client
    }
  }

  /// Returns the effect of the cache on a call; `nil` without a cache.
  func cacheOutcome(of trace: Trace) -> CacheOutcome? {
    guard caches != nil else { return nil }
    return trace.cacheOutcome ?? CacheOutcome.unhandled
  }

  private func make(for url: TargetURL, base: String) throws -> Client {
    try plan.credentials?.check(url.origin)
    var configuration = Configuration(baseURL: try BaseURL("\(url.origin)\(base)"))
    let credentials = plan.credentials ?? url.userInformation.map { CredentialPlan($0) }
    configuration.authentication = try credentials?.authentication(over: transport)
    if case .profile(let signedIn)? = credentials, case .oauth = signedIn.credentials {
      configuration.onSessionEnd = { _ in
        let error = ProfileError.signedOut(signedIn.profile.name, signedIn.profile.origin)
        DescriptorWriter.standardError().writeNow("apus: \(error)\n")
      }
    }
    configuration.cookies = plan.cookies
    configuration.cache = caches?.cache(
      of: CachePlan.account(of: credentials, plan.signing, in: ProcessInfo.processInfo.environment))
    configuration.observers = observers
    configuration.timeout = plan.timeout ?? configuration.timeout
    // The user decides about requests, retries and concurrency.
    configuration.retry = plan.furtherAttempts > 0 ? RetryPolicy(maximumAttempts: plan.furtherAttempts + 1) : .none
    // Every call of a batch gets the requested number of retries.
    if plan.furtherAttempts > 0 { configuration.retryBudget = .unlimited }
    (configuration.attemptTimeout, configuration.scheduler, configuration.breaker) = (nil, nil, nil)
    let signing = plan.signing.map { SigningMiddleware($0.signer, credentials: $0.credentials.provider(transport)) }
    configuration.customizePipeline = { pipeline in
      pipeline.insert(AsWritten(), .after(.validation))
      if let signing { pipeline.insert(signing, .after(.authentication)) }
    }
    return Client(configuration: configuration, transport: transport)
  }
}

extension ConnectionPlan {
  /// Returns the client of a command that calls one server.
  ///
  /// - Parameters:
  ///   - url: a URL of the server.
  ///   - observers: the observers of all calls.
  /// - Throws: ``PlanError``, ``InputError``, ``ProfileError``, `BaseURL.ParseError`
  func client(for url: TargetURL, observers: [any CallObserver] = []) async throws -> Client {
    try Clients(transport: try await transport(to: url.origin), plan: self, observers: observers).client(for: url)
  }

  /// Returns the transport of a command that calls one server.
  ///
  /// - Throws: ``PlanError``, ``InputError``; `CancellationError`
  func transport(to origin: Origin) async throws -> any Apus.Transport {
    // Reading certificates from a pipe may block.
    try await Blocking("read").runUnlessCancelled { [self] in
      Result { try makeTransport(host: origin.host, limitsEachWait: timeout == nil) }
    }.get()
  }
}
