import ArgumentParser

/// `apus whoami`
struct WhoamiCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami",
    abstract: "Lists the profiles stored by `apus login`.",
    discussion: """
      Prints name, scheme, server, user and date of each profile, and the time when the tokens of a login with --oauth \
      expire or are refreshed. Tokens and passwords are not shown, and only the tokens of a login with --oauth are \
      read. Without profiles it prints a message and exits with 0. A damaged profile is reported with status 26, and the \
      others are still listed.

      \(ExitStatus.table)
      """)

  @Argument(help: "The name of the profile. Default: all.")
  var name: String?

  @Flag(help: "Print a JSON array.")
  var json = false

  func run() async throws {
    let whoami = try await CommandInterpretation.of {
      Whoami(
        name: try name.map { try ProfileName($0) }, isJSON: json, store: try ProfileStore.current(),
        output: .standardOutput(), error: .standardError())
    }
    let status = await Interruption.during { await whoami.run() }
    throw ExitCode(status.rawValue)
  }
}
