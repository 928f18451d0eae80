public import ArgumentParser

/// The command `apus`.
public struct ApusCommand: AsyncParsableCommand {
  /// Name, help and version.
  /// Its name, help, version and subcommands.
  public static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Calls HTTP APIs from the command line.",
    discussion: ExitStatus.table,
    version: "apus \(ToolVersion.current)",
    subcommands: [
      SendCommand.self, BatchCommand.self, LoginCommand.self, LogoutCommand.self, WhoamiCommand.self,
    ])

  /// For the parser, which fills it in.
  /// Made by the parser.
  public init() {}
}
