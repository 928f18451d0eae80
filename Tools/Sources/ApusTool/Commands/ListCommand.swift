import Apus
import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `apus ls`
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "Lists objects in S3.",
    discussion: """
      Prints a line for each object: the time of its last change, its size in bytes and its key. Of keys with a slash \
      after the prefix only the part up to the slash is printed, after two hyphens. Control characters of keys are \
      escaped.

      \(ExitStatus.table)
      """)

  @Argument(help: ArgumentHelp("The bucket, and the prefix of the keys.", valueName: "s3://BUCKET/PREFIX"))
  var place: String

  @Flag(help: "List all keys, also those with a slash after the prefix.")
  var recursive = false

  @OptionGroup(title: "S3")
  var s3: S3Options

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let (work, isRecursive) = try await CommandInterpretation.of {
      try connection.checkNoCredentials()
      let work = S3Work(
        place: try S3Place(place), plan: try s3.plan(in: environment), connection: try connection.plan(),
        outputs: .current(), showsTrace: connection.trace)
      return (work, recursive)
    }
    let status = await Interruption.during { await work.list(isRecursive: isRecursive) }
    throw ExitCode(status.rawValue)
  }
}

extension ConnectionOptions {
  /// Throws if the command line contains credentials that a request to S3 cannot use.
  func checkNoCredentials() throws(PlanError) {
    guard bearer == nil, basic == nil, profile == nil else {
      throw PlanError("--bearer, --basic and --profile are not for places in S3.")
    }
  }
}
