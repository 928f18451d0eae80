import ArgumentParser

/// `apus logout`
struct LogoutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Removes credentials that `apus login` keeps.",
    discussion: """
      They are removed from this machine; the server is not told.

      \(ExitStatus.table)
      """)

  @Argument(help: "What the credentials are called.")
  var name: String?

  @Flag(help: "Remove all of them.")
  var all = false

  func run() async throws {
    let logout = try await Meaning.of {
      Logout(
        name: try profile(), store: try ProfileStore.current(), output: .standardOutput(), error: .standardError())
    }
    let status = await Interruption.during { await logout.run() }
    throw ExitCode(status.rawValue)
  }

  /// Which profile; `nil`: all of them.
  ///
  /// - Throws: ``PlanError``
  func profile() throws(PlanError) -> ProfileName? {
    switch (name, all) {
    case (let name?, false): return try ProfileName(name)
    case (nil, true): return nil
    default: throw PlanError("Name a profile, or write --all.")
    }
  }
}
