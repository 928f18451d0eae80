import Apus
import ApusAWS
import ArgumentParser
import Foundation

/// `apus sign`
struct SignCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Signs a request with an AWS signature (version 4) and prints how.",
    discussion: """
      Standard input is an HTTP/1.1 request: lines end with LF or CRLF, a field (header) may stand on several lines, and \
      the target may contain spaces and UTF-8. Nothing is sent. The output is a line of JSON:
        {"canonical_request":"…","string_to_sign":"…","signature":"…","authorization":"…"}
      With --presign, url takes the place of authorization.

      The credentials are also read from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; @FILE reads a \
      value from a file, which keeps it out of the process list. The service s3 has its own rules for paths.

      \(ExitStatus.table)
      """)

  @Option(help: "The region, for example eu-central-1.")
  var region: String

  @Option(help: "The name of the service in signatures, for example execute-api.")
  var service: String

  @Option(help: ArgumentHelp("The time of the signature, in UTC. Default: now.", valueName: "2015-08-30T12:36:00Z"))
  var at: String?

  @OptionGroup var keys: AWSKeyOptions

  @Flag(name: .customLong("omit-session-token"), help: "Add the session token after signing.")
  var omitSessionToken = false

  @Option(
    help: ArgumentHelp("Sign a URL that is valid for this time, from 1 to 604800 seconds.", valueName: "seconds"))
  var presign: Int?

  @Flag(name: .customLong("no-normalize-path"), help: "Keep dot segments and empty segments of the path.")
  var noNormalizePath = false

  @Flag(
    name: .customLong("sign-content"),
    help:
      "Add the field X-Amz-Content-SHA256. With --presign only for s3; other services compute the digest themselves.")
  var signContent = false

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let signing = try await CommandInterpretation.of { try self.signing(in: environment) }
    let status = await Interruption.during { await signing.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the execution of the command.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func signing(in environment: [String: String]) throws -> Signing {
    guard !region.isEmpty, !service.isEmpty else { throw PlanError("--region and --service take a name.") }
    let credentials = try keys.credentials(in: environment)
    var signer = SignatureV4(region: region, service: service)
    if noNormalizePath, signer.pathRules != .decoded { signer.pathRules = .asSent(isNormalized: false) }
    if signContent { signer.sendsPayload = true }
    signer.signsSessionToken = !omitSessionToken
    return Signing(
      signer: signer, credentials: credentials, date: try Self.date(at), seconds: presign,
      input: .standardInput(), output: .standardOutput(), error: .standardError())
  }

  /// Returns the time of an option, or the present.
  ///
  /// - Throws: ``PlanError``
  static func date(_ text: String?) throws(PlanError) -> Date {
    guard let text else { return Date() }
    guard let date = try? Date(text, strategy: .iso8601) else {
      throw PlanError("--at takes a time in UTC, for example 2015-08-30T12:36:00Z.")
    }
    return date
  }
}
