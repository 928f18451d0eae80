import Apus
import ApusNIO
import ArgumentParser

/// The options of the commands that send requests.
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

  @Option(
    help: ArgumentHelp(
      "Trust the authorities in this PEM file in addition to the system's; repeatable.", valueName: "file"))
  var ca: [String] = []

  @Option(help: ArgumentHelp("The client certificate, in PEM, for servers that request one.", valueName: "file"))
  var cert: String?

  @Option(help: ArgumentHelp("The private key of --cert, in PEM. Default: the same file.", valueName: "file"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "Require this public key in the host's certificate chain: Base64 of the SHA-256 of its subject public key info. "
        + "One match for a host is enough; repeatable. Default of HOST: the URL's host.", valueName: "[HOST=]hash"))
  var pin: [String] = []

  @Option(
    help: ArgumentHelp(
      "Use this HTTP proxy; `environment` uses http_proxy, https_proxy, all_proxy and no_proxy. "
        + "Default: no proxy.", valueName: "url"))
  var proxy: String?

  @Option(help: "The transport.")
  var transport = ConnectionPlan.Transport.nio

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
    guard !noRetry else { throw PlanError("--retry and --no-retry are mutually exclusive.") }
    guard (0...100).contains(retry) else { throw PlanError("--retry takes a number from 0 to 100.") }
    return retry
  }

  private func proxyPlan() throws(PlanError) -> ConnectionPlan.ProxyPlan {
    guard let proxy else { return .none }
    if proxy == "environment" { return .environment }
    guard let server = NIOTransport.Proxy(url: proxy) else {
      throw PlanError("--proxy takes http://[USER:PASSWORD@]HOST:PORT or environment.")
    }
    return .server(server)
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

extension ConnectionPlan.Transport: ExpressibleByArgument {}
