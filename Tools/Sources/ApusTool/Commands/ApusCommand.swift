public import ArgumentParser

/// `apus`
public struct ApusCommand: AsyncParsableCommand {
  /// Name, help and version.
  public static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Calls HTTP APIs from the command line.",
    discussion: ExitStatus.table,
    version: "apus \(ToolVersion.current)",
    subcommands: [SendCommand.self, BatchCommand.self])

  /// For the parser, which fills it in.
  public init() {}
}
