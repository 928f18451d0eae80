import ArgumentParser

/// `apus logout`
struct LogoutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Removes credentials stored by `apus login`.",
    discussion: """
      Removes the credentials from this machine, then revokes tokens that an authorization server has issued (RFC 7009). \
      If that fails, the credentials are removed nevertheless, and the status is that of the failure. Servers of tokens \
      and passwords that were given to `apus login` are not notified.

      \(ExitStatus.table)
      """)

  @Argument(help: "The name of the profile.")
  var name: String?

  @Flag(help: "Remove all profiles.")
  var all = false

  @OptionGroup(title: "Connection to the authorization server")
  var connections: TransportOptions

  func run() async throws {
    let logout = try await CommandInterpretation.of {
      Logout(
        name: try profile(), store: try ProfileStore.current(), connection: try connections.plan(),
        output: .standardOutput(), error: .standardError())
    }
    let status = await Interruption.during { await logout.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the profile to remove; `nil` for all.
  ///
  /// - Throws: ``PlanError``
  func profile() throws(PlanError) -> ProfileName? {
    switch (name, all) {
    case (let name?, false): return try ProfileName(name)
    case (nil, true): return nil
    default: throw PlanError("Name a profile or use --all.")
    }
  }
}
