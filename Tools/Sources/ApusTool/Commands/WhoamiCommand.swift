import ArgumentParser

/// `apus whoami`
struct WhoamiCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami",
    abstract: "Lists the credentials that `apus login` keeps.",
    discussion: """
      A line for each: name, scheme, server, user and since when. Tokens and passwords are neither shown nor read. \
      Where there is nothing to list, it says so, with status 0; a profile that is damaged is told of, with status 26, \
      and the others are listed.

      \(ExitStatus.table)
      """)

  @Argument(help: "What the credentials are called; without it, all are listed.")
  var name: String?

  @Flag(help: "Print an array of JSON.")
  var json = false

  func run() async throws {
    let whoami = try await Meaning.of {
      Whoami(
        name: try name.map { try ProfileName($0) }, isJSON: json, store: try ProfileStore.current(),
        output: .standardOutput(), error: .standardError())
    }
    let status = await Interruption.during { await whoami.run() }
    throw ExitCode(status.rawValue)
  }
}
