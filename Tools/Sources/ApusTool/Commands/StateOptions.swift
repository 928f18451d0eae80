import Apus
import ArgumentParser
import Foundation

/// The options of state that outlives a command: cookies and stored responses.
struct StateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send the cookies in this encrypted file, and store those of responses and redirects in it, also for later runs. "
        + "A missing file is created.", valueName: "file"))
  var cookies: String?

  @Option(
    help: ArgumentHelp(
      "Store responses in this folder as a private cache does (RFC 9111), and use them, also in later runs. A missing "
        + "folder is created; it must contain nothing else.", valueName: "folder"))
  var cache: String?

  /// Opens the files.
  ///
  /// - Throws: ``PlanError``, ``InputError``, ``ProfileError``
  func apply(to plan: inout ConnectionPlan) throws {
    guard cookies != "" else { throw PlanError("--cookies takes the name of a file.") }
    guard cache != "" else { throw PlanError("--cache takes the name of a folder.") }
    plan.cache = cache.map { CachePlan(folder: $0) }
    if let cookies {
      let folder = try ProfileFolder(environment: ProcessInfo.processInfo.environment)
      plan.cookies = try CookieFile.jar(at: cookies, key: folder)
    }
  }
}
