import Apus
import ApusNIO
import ArgumentParser

/// The options that `send` and `batch` share.
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
      "Send the credentials that `apus login` keeps under this name, to their server alone.", valueName: "name"))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "The limit of the whole call, content included. Default for send: none, but limits on each wait.",
      valueName: "seconds"))
  var timeout: Double?

  @Flag(inversion: .prefixedNo, help: "Follow redirects.")
  var follow = true

  @Option(
    help: ArgumentHelp("Trust the authorities in this PEM file besides the system's; may repeat.", valueName: "file"))
  var ca: [String] = []

  @Option(help: ArgumentHelp("Show this certificate, in PEM, to servers that ask for one.", valueName: "file"))
  var cert: String?

  @Option(help: ArgumentHelp("The key of --cert, in PEM; without it, the same file.", valueName: "file"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "Insist on this public key in the host's chain: Base64 of the SHA-256 of its subject public key info. One of "
        + "those for a host is enough; may repeat. Without HOST, the URL's.", valueName: "[HOST=]hash"))
  var pin: [String] = []

  @Option(
    help: ArgumentHelp(
      "Go through this HTTP proxy; `environment` takes it from http_proxy, https_proxy, all_proxy and no_proxy. "
        + "Without it, no proxy.", valueName: "url"))
  var proxy: String?

  @Option(help: "Which transport sends.")
  var transport = ConnectionPlan.Transport.nio

  @Flag(name: .customLong("no-retry"), help: "Never send again by itself when a connection in use before was closed.")
  var noRetry = false

  @Option(
    help: ArgumentHelp(
      "Try again so many times what failed for now, after the time that the server asks for or one drawn by lot: what "
        + "was not sent, whatever the method, and once more at once without counting; what may be done twice, also "
        + "after broken connections and 408, 425, 429, 500, 502, 503 and 504. Default: 0.", valueName: "number"))
  var retry: Int?

  @Flag(help: "Print the timeline of each call to standard error.")
  var trace = false

  /// How calls reach their server, and as whom.
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

  /// How calls reach their server, and as whom unless a profile is to say that.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func plan() throws -> ConnectionPlan {
    var plan = ConnectionPlan()
    plan.transport = transport
    if let timeout {
      guard timeout > 0, timeout <= 1e9 else { throw PlanError("--timeout takes a number of seconds above 0.") }
      plan.timeout = .seconds(timeout)
    }
    plan.followsRedirects = follow
    plan.authorities = ca
    if let cert { plan.identity = (cert, key ?? cert) } else if key != nil { throw PlanError("--key needs --cert.") }
    plan.pins = pin.map { Pin($0) }
    plan.proxy = try proxyPlan()
    plan.retries = !noRetry
    plan.furtherAttempts = try furtherAttempts()
    plan.credentials = try credentials()
    return plan
  }

  private func furtherAttempts() throws(PlanError) -> Int {
    guard let retry else { return 0 }
    guard !noRetry else { throw PlanError("--retry and --no-retry exclude each other.") }
    guard (0...100).contains(retry) else { throw PlanError("--retry takes a number from 0 to 100.") }
    return retry
  }

  private func proxyPlan() throws(PlanError) -> ConnectionPlan.ProxyPlan {
    guard let proxy else { return .none }
    if proxy == "environment" { return .environment }
    guard let server = NIOTransport.Proxy(url: proxy) else {
      throw PlanError("--proxy takes http://[USER:PASSWORD@]HOST:PORT, or the word environment.")
    }
    return .server(server)
  }

  private func credentials() throws -> CredentialPlan? {
    switch (bearer, basic, profile) {
    case (nil, nil, _): nil
    case (let token?, nil, nil): .bearer(Secret(try CredentialPlan.secretText(token)))
    case (nil, let text?, nil): try CredentialPlan(basic: CredentialPlan.secretText(text))
    default: throw PlanError("--bearer, --basic and --profile exclude each other.")
    }
  }
}

extension ConnectionPlan.Transport: ExpressibleByArgument {}
