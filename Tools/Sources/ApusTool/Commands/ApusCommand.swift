import Apus
public import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The command `apus`.
public struct ApusCommand: AsyncParsableCommand {
  /// The name, help, version and subcommands.
  public static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Calls HTTP APIs from the command line.",
    discussion: ExitStatus.table,
    version: "apus \(ToolVersion.current)",
    subcommands: [
      SendCommand.self, DownloadCommand.self, UploadCommand.self, EventsCommand.self, PagesCommand.self,
      BatchCommand.self, ListCommand.self, LoginCommand.self, LogoutCommand.self, WhoamiCommand.self, SignCommand.self,
      PresignCommand.self,
    ])

  /// Called by the argument parser.
  public init() {}
}

/// Conversion of command line errors into errors of the argument parser.
enum CommandInterpretation {
  /// Interprets the options of connections and credentials, then the rest of the command line.
  ///
  /// - Parameters:
  ///   - options: the options of connections and credentials.
  ///   - signing: the signatures of requests. Default: none.
  ///   - plan: interprets the rest, with the origin of URLs that are only a path; `nil` for none.
  /// - Throws: the errors of ``of(_:)``.
  static func of<Plan>(
    _ options: ConnectionOptions, signing: AWSPlan? = nil, _ plan: (Origin?) throws(PlanError) -> Plan
  ) async throws -> (Plan, ConnectionPlan) {
    try await of {
      var connection = try await options.planWithProfile()
      guard signing == nil || connection.credentials == nil else {
        throw PlanError("--aws-sigv4 and other credentials are mutually exclusive.")
      }
      connection.signing = signing
      return (try plan(connection.credentials?.origin), connection)
    }
  }

  /// Runs a closure that interprets the command line.
  ///
  /// - Throws: `ValidationError`, which prints the usage; `ExitCode` after other errors have been printed.
  static func of<Plan>(_ body: () async throws -> Plan) async throws -> Plan {
    do {
      return try await body()
    } catch let error as PlanError {
      throw ValidationError(error.description)
    } catch let error where error is InputError || error is ProfileError {
      let ending = Ending(error)
      if let complaint = ending.complaint { DescriptorWriter.standardError().writeNow(complaint.text) }
      throw ExitCode(ending.status.rawValue)
    }
  }
}
