import Apus
import ArgumentParser

/// The options of the commands that send requests, with their credentials.
struct ConnectionOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Send this token in Authorization; @FILE reads it from a file.", valueName: "token"))
  var bearer: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Send this name and password in Authorization; @FILE reads them from a file.", valueName: "user:password"))
  var basic: String?

  @Option(
    help: ArgumentHelp(
      "Send the credentials stored by `apus login` under this name, to their server only.", valueName: "name"))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "The timeout of the whole call, including content; of each request of an upload by tus or ietf. Default for send: "
        + "30 seconds, not counting transfer of content.",
      valueName: "seconds"))
  var timeout: Double?

  @Flag(inversion: .prefixedNo, help: "Follow redirects.")
  var follow = true

  @OptionGroup var connections: TransportOptions

  @Flag(name: .customLong("no-retry"), help: "Do not resend a request when a reused connection turns out to be closed.")
  var noRetry = false

  @Option(
    help: ArgumentHelp(
      "Retry temporary failures up to this many times, after the delay that the server names or exponential backoff "
        + "with full jitter. Requests that were not sent are retried with any method, the first time immediately and "
        + "uncounted; idempotent requests also after lost connections and 408, 425, 429, 500, 502, 503 and 504. "
        + "Default: 0.",
      valueName: "number"))
  var retry: Int?

  @Flag(help: "Print the trace of each call to standard error.")
  var trace = false

  /// Returns the plan of connections and credentials.
  ///
  /// - Throws: ``PlanError``, ``InputError``, ``ProfileError``
  func planWithProfile() async throws -> ConnectionPlan {
    var plan = try plan()
    if let profile {
      let name = try ProfileName(profile)
      plan.credentials = .profile(try await ProfileStore.current().signedIn(name))
    }
    return plan
  }

  /// Returns the plan of connections, and of credentials except those of a profile.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func plan() throws -> ConnectionPlan {
    var plan = try connections.plan()
    if let timeout {
      guard timeout > 0, timeout <= 1e9 else { throw PlanError("--timeout takes a number of seconds above 0.") }
      plan.timeout = .seconds(timeout)
    }
    plan.followsRedirects = follow
    plan.retries = !noRetry
    plan.furtherAttempts = try furtherAttempts()
    plan.credentials = try credentials()
    return plan
  }

  private func furtherAttempts() throws(PlanError) -> Int {
    guard let retry else { return 0 }
    guard !noRetry else { throw PlanError("--retry and --no-retry are mutually exclusive.") }
    guard (0...100).contains(retry) else { throw PlanError("--retry takes a number from 0 to 100.") }
    return retry
  }

  private func credentials() throws -> CredentialPlan? {
    switch (bearer, basic, profile) {
    case (nil, nil, _): nil
    case (let token?, nil, nil): .bearer(Secret(try CredentialPlan.secretText(token)))
    case (nil, let text?, nil): try CredentialPlan(basic: CredentialPlan.secretText(text))
    default: throw PlanError("--bearer, --basic and --profile are mutually exclusive.")
    }
  }
}
