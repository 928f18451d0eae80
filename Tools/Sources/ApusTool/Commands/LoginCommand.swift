import Apus
import ArgumentParser

/// `apus login`
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Stores a server's credentials, encrypted, under a name.",
    usage: """
      apus login <name> <URL> --bearer
      apus login <name> <URL> --basic <user> | --digest <user>
      apus login <name> <URL> --oauth <issuer> --client-id <id> [--scope <scope> ...] [--device]
      """,
    discussion: """
      The token or password is the first line of standard input; on a terminal it is prompted for without echo. It is \
      never part of a command line. `apus send --profile <name>` sends it to that server only. A second \
      login with the same name replaces the first.

      With --oauth the user signs in at an authorization server (OAuth 2): in a browser on this machine, whose page is \
      printed on standard error (code with PKCE, RFC 8252), or with --device on any device (RFC 8628). Tokens are \
      refreshed by the commands that use them, once for all processes. With the scope openid the account is identified.

      Profiles are stored in the folder $APUS_CONFIG_HOME, or in apus in $XDG_CONFIG_HOME or ~/.config.

      \(ExitStatus.table)
      """)

  @Argument(help: "The name of the profile, in lower case.")
  var name: String

  @Argument(help: ArgumentHelp("The server: scheme, host and port.", valueName: "URL"))
  var url: String

  @Flag(help: "The secret is a bearer token (RFC 6750).")
  var bearer = false

  @Option(
    help: ArgumentHelp("The secret is this user's password, which is sent to the server (RFC 7617).", valueName: "user")
  )
  var basic: String?

  @Option(
    help: ArgumentHelp(
      "The secret is this user's password, which is never sent, only a digest of it (RFC 7616).", valueName: "user"))
  var digest: String?

  @Option(
    help: ArgumentHelp(
      "Sign in at the authorization server with this URL, exactly as the server spells it.", valueName: "issuer"))
  var oauth: String?

  @Option(
    name: .customLong("client-id"),
    help: ArgumentHelp("The id under which the authorization server knows this client.", valueName: "id"))
  var clientID: String?

  @Option(help: ArgumentHelp("A scope to ask for; repeatable, or several separated by spaces.", valueName: "scope"))
  var scope: [String] = []

  @Flag(help: "Sign in on another device, with a code.")
  var device = false

  @Option(
    help: ArgumentHelp(
      "The port of the redirect http://127.0.0.1:PORT/callback, for servers that do not allow any. Default: a free one."
    ))
  var port: UInt16?

  @Flag(help: "Bind the tokens to a key of this login (DPoP, RFC 9449), so that stolen tokens are useless.")
  var dpop = false

  @Option(
    help: ArgumentHelp(
      "Read the secret from this file; - is standard input. With --oauth the secret is the client's, and a client "
        + "without --from has none.", valueName: "file"))
  var from: String?

  @Flag(
    name: .customLong("allow-plain-http"),
    help: "Allow a server on another machine without TLS, to which the secret is sent unencrypted.")
  var allowPlainHTTP = false

  @OptionGroup(title: "Connection to the authorization server")
  var connections: TransportOptions

  func run() async throws {
    let login = try await CommandInterpretation.of { try self.login() }
    let status = await Interruption.during { await login() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the execution of the command.
  private func login() throws -> @Sendable () async -> ExitStatus {
    guard let plan = try oauthPlan() else {
      let login = Login(
        plan: try plan(), store: try .current(), secret: SecretInput(path: from), output: .standardOutput(),
        error: .standardError())
      return { await login.run() }
    }
    let login = OAuthLogin(
      plan: plan, connection: try connections.plan(), store: try .current(), secret: from.map { SecretInput(path: $0) },
      output: .standardOutput(), error: .standardError())
    return { await login.run() }
  }

  /// Returns the profile's name and its server.
  private func target() throws(PlanError) -> (ProfileName, Origin) {
    guard from != "" else { throw PlanError("--from takes the name of a file.") }
    return (try ProfileName(name), try LoginPlan.origin(of: url, allowsPlainHTTP: allowPlainHTTP))
  }

  /// Returns the plan of a login with a secret.
  ///
  /// - Throws: ``PlanError``
  func plan() throws(PlanError) -> LoginPlan {
    guard clientID == nil, scope.isEmpty, !device, port == nil, !dpop else {
      throw PlanError("--client-id, --scope, --device, --port and --dpop need --oauth.")
    }
    let (name, origin) = try target()
    return LoginPlan(
      name: name, origin: origin, account: try LoginPlan.account(bearer: bearer, basic: basic, digest: digest))
  }

  /// Returns the plan of a login at an authorization server; `nil` for other logins.
  ///
  /// - Throws: ``PlanError``
  func oauthPlan() throws(PlanError) -> OAuthLoginPlan? {
    guard let oauth else { return nil }
    guard !bearer, basic == nil, digest == nil else { throw LoginPlan.ambiguous }
    guard let clientID, !clientID.isEmpty else { throw PlanError("--oauth needs --client-id ID.") }
    guard !device || port == nil else { throw PlanError("--device and --port are mutually exclusive.") }
    do {
      _ = try TargetURL(oauth, completesScheme: false)
    } catch {
      throw PlanError("--oauth takes the URL of an authorization server: \(error.description).")
    }
    let (name, origin) = try target()
    return OAuthLoginPlan(
      name: name, origin: origin, issuer: oauth, clientID: clientID,
      scopes: scope.flatMap { $0.split(separator: " ").map(String.init) },
      port: port ?? 0, isOnAnotherDevice: device, bindsTokens: dpop)
  }
}
