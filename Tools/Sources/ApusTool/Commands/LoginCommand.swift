import ArgumentParser

/// `apus login`
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Stores a server's credentials, encrypted, under a name.",
    discussion: """
      The token or password is the first line of standard input; on a terminal it is prompted for without echo. It is \
      never part of a command line. `apus send --profile <name>` sends it to that server only. A second \
      login with the same name replaces the first.

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

  @Option(help: ArgumentHelp("Read the secret from this file; - is standard input.", valueName: "file"))
  var from: String?

  @Flag(
    name: .customLong("allow-plain-http"),
    help: "Allow a server on another machine without TLS, to which the secret is sent unencrypted.")
  var allowPlainHTTP = false

  func run() async throws {
    let (plan, store) = try await Meaning.of { (try self.plan(), try ProfileStore.current()) }
    let login = Login(
      plan: plan, store: store, secret: SecretInput(path: from), output: .standardOutput(), error: .standardError())
    let status = await Interruption.during { await login.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the plan of the login.
  ///
  /// - Throws: ``PlanError``
  func plan() throws(PlanError) -> LoginPlan {
    guard from != "" else { throw PlanError("--from takes the name of a file.") }
    return LoginPlan(
      name: try ProfileName(name), origin: try LoginPlan.origin(of: url, allowsPlainHTTP: allowPlainHTTP),
      account: try LoginPlan.account(bearer: bearer, basic: basic, digest: digest))
  }
}
