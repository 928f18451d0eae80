import Apus
import ApusAWS
import ArgumentParser
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `apus presign`
struct PresignCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "presign",
    abstract: "Prints a URL with an AWS signature, which anyone may use until it expires.",
    usage: "apus presign --aws-sigv4 <region/service> [<options>] [<METHOD>] <URL>",
    discussion: """
      The default METHOD is GET. Nothing is sent, except for temporary credentials. A URL that is signed with temporary \
      credentials expires with them.

      \(ExitStatus.table)
      """)

  @Argument(help: ArgumentHelp("The method and the URL.", valueName: "METHOD-URL"))
  var words: [String] = []

  @OptionGroup(title: "Signature") var signature: AWSSigningOptions

  @Option(help: ArgumentHelp("The time for which the URL is valid, from 1 to 604800.", valueName: "seconds"))
  var expires = 3600

  @Option(help: ArgumentHelp("The time of the signature, in UTC. Default: now.", valueName: "2015-08-30T12:36:00Z"))
  var at: String?

  func run() async throws {
    let presigning = try await CommandInterpretation.of { try self.presigning() }
    let status = await Interruption.during { await presigning.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the execution of the command.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func presigning() throws -> Presigning {
    guard let plan = try signature.plan() else { throw PlanError("--aws-sigv4 REGION/SERVICE is required.") }
    guard let word = words.last, words.count <= 2 else { throw PlanError("A method and a URL are expected.") }
    guard let method = HTTPRequest.Method(words.count == 2 ? words[0].uppercased() : "GET") else {
      throw PlanError("The method is invalid.")
    }
    let url: TargetURL
    do {
      url = try TargetURL(word: word, relativeTo: nil)
    } catch {
      throw PlanError(error)
    }
    guard url.userInformation == nil else { throw PlanError("The URL must not contain a name or password.") }
    let head = HTTPRequest(
      method: method, scheme: url.origin.scheme, authority: url.origin.authority, path: url.target)
    return Presigning(
      plan: plan, message: RequestMessage(head: head), date: try SignCommand.date(at), seconds: expires,
      transport: try ConnectionPlan().makeTransport(host: nil, limitsEachWait: true), output: .standardOutput(),
      error: .standardError())
  }
}
