public import ArgumentParser

/// `apus`
public struct ApusCommand: AsyncParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Calls HTTP APIs from the command line.",
    discussion: ExitStatus.table,
    version: "apus \(ToolVersion.current)",
    subcommands: [SendCommand.self, BatchCommand.self])

  public init() {}
}
