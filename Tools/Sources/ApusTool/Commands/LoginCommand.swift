import ArgumentParser

/// `apus login`
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Keeps credentials for a server, encrypted, under a name.",
    discussion: """
      The token or password is the first line of the standard input, which is asked for on a terminal and not shown; \
      it never stands on a command line. `apus send --profile <name>` shows it to that server and to no other. Who \
      signs in again under the same name replaces what was kept.

      Profiles are kept in the folder $APUS_CONFIG_HOME, or apus in $XDG_CONFIG_HOME or ~/.config.

      \(ExitStatus.table)
      """)

  @Argument(help: "What the credentials are called from now on, in lower case.")
  var name: String

  @Argument(help: ArgumentHelp("The server: scheme, host and port.", valueName: "URL"))
  var url: String

  @Flag(help: "The secret is a token, which is sent as it is (RFC 6750).")
  var bearer = false

  @Option(help: ArgumentHelp("The secret is this user's password, which is sent (RFC 7617).", valueName: "user"))
  var basic: String?

  @Option(
    help: ArgumentHelp(
      "The secret is this user's password, which is never sent, but proven to be known (RFC 7616).", valueName: "user"))
  var digest: String?

  @Option(help: ArgumentHelp("Read the secret from this file; - is the standard input.", valueName: "file"))
  var from: String?

  @Flag(
    name: .customLong("allow-plain-http"),
    help: "Keep credentials also for a server without TLS on another machine, to which they go for all to read.")
  var allowPlainHTTP = false

  func run() async throws {
    let (plan, store) = try await Meaning.of { (try self.plan(), try ProfileStore.current()) }
    let login = Login(
      plan: plan, store: store, secret: SecretInput(path: from), output: .standardOutput(), error: .standardError())
    let status = await Interruption.during { await login.run() }
    throw ExitCode(status.rawValue)
  }

  /// What is kept.
  ///
  /// - Throws: ``PlanError``
  func plan() throws(PlanError) -> LoginPlan {
    guard from != "" else { throw PlanError("--from takes the name of a file.") }
    return LoginPlan(
      name: try ProfileName(name), origin: try LoginPlan.origin(of: url, allowsPlainHTTP: allowPlainHTTP),
      account: try LoginPlan.account(bearer: bearer, basic: basic, digest: digest))
  }
}
