import Apus
import ApusAWS
import ApusTransfers
import ArgumentParser
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `apus download`
struct DownloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download",
    abstract: "Downloads a file, and continues an interrupted download.",
    discussion: """
      The content (body) is written to FILE.apus-part, which gets its name when it is complete, verified and on the disk. \
      Without --output the server suggests the name; it is printed, it never contains a folder or begins with a dot or a \
      hyphen, and it gets a number if a file with that name exists. A lost connection is continued up to five times if \
      the server permits it. A file that the server sends with a content coding all the same is saved as it was sent.

      An object is downloaded from s3://BUCKET/KEY; without --output the file gets the last part of the key as its name.

      After an interruption the same command with --continue continues, or starts over if the server cannot send the rest. \
      Without it the download starts over.

      \(ExitStatus.table)
      """)

  @Argument(help: ArgumentHelp("The URL of the file, or s3://BUCKET/KEY.", valueName: "URL"))
  var url: String

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("The name of the file. Default: the name that the server suggests.", valueName: "file"))
  var output: String?

  @Flag(name: .customLong("continue"), help: "Continue an interrupted download.")
  var continues = false

  @Flag(help: "Replace an existing file, atomically, when the new one is complete.")
  var force = false

  @Option(
    help: ArgumentHelp(
      "The digest that the file must have: sha-256=DIGEST or sha-512=DIGEST, in hexadecimal or Base64. Digests that the "
        + "server states are always verified.", valueName: "algorithm=digest"))
  var digest: String?

  @Option(
    name: .customLong("max-filesize"),
    help: ArgumentHelp(
      "Refuse a file of more than this number of bytes, as soon as its length is known. Default: no maximum.",
      valueName: "bytes"))
  var maximumSize: Int64?

  @OptionGroup var fields: FieldOptions

  @OptionGroup(title: "S3")
  var s3: S3Options

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    if S3Place.isNamed(by: url) { throw ExitCode(try await downloadFromS3().rawValue) }
    let (plan, connection) = try await CommandInterpretation.of(connection) { origin throws(PlanError) in
      try self.plan(relativeTo: origin)
    }
    let downloading = Downloading(plan: plan, connection: connection, outputs: .current())
    let status = await Interruption.during { await downloading.run() }
    throw ExitCode(status.rawValue)
  }

  private func downloadFromS3() async throws -> ExitStatus {
    let (work, path, options) = try await CommandInterpretation.of { try workInS3(ProcessInfo.processInfo.environment) }
    return await Interruption.during { await work.download(to: path, options) }
  }

  /// Returns the download from an S3 location, with the path of the file.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func workInS3(_ environment: [String: String]) throws -> (S3Work, String, DownloadOptions) {
    try connection.checkNoCredentials()
    let place = try S3Place(url)
    guard !place.key.isEmpty else { throw PlanError("A place in S3 is s3://BUCKET/KEY.") }
    guard try fields.fields().isEmpty else { throw PlanError("Fields are not for places in S3.") }
    guard output != "", output != "-", let path = output ?? place.fileName else {
      throw PlanError("--output takes the name of a file.")
    }
    let work = S3Work(
      place: place, plan: try s3.plan(in: environment), connection: try connection.plan(), outputs: .current(),
      showsTrace: connection.trace)
    var options = try self.options()
    options.account = work.plan.credentials?.account(in: environment)
    return (work, path, options)
  }

  /// Returns the plan of the download.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> DownloadPlan {
    guard !s3.isUsed else { throw PlanError("The options of S3 need a place such as s3://BUCKET/KEY.") }
    var request = RequestPlan(method: .get, url: try .named(url, relativeTo: origin))
    request.fields = try fields.fields()
    if let field = request.fields.first(where: { ["range", "if-range"].contains($0.name.lowercased()) }) {
      throw PlanError("The field \(field.name) belongs to the download itself. Use apus send for a part of a file.")
    }
    guard output != "-" else {
      throw PlanError("--output takes the name of a file. Use apus send for standard output.")
    }
    guard output != "" else { throw PlanError("--output takes the name of a file.") }
    guard !force || output != nil else { throw PlanError("--force needs --output.") }
    var plan = DownloadPlan(request: request, output: output)
    plan.options = try options()
    plan.showsTrace = connection.trace
    return plan
  }

  private func options() throws(PlanError) -> DownloadOptions {
    guard maximumSize ?? 0 >= 0 else { throw PlanError("--max-filesize takes a number of bytes.") }
    var digest: FileDigest?
    if let text = self.digest { digest = try Self.digest(text) }
    var options = DownloadOptions(replacesExisting: force, resumes: continues, digest: digest)
    options.maximumSize = maximumSize
    return options
  }

  private static func digest(_ text: String) throws(PlanError) -> FileDigest {
    guard let (name, value) = text.splitAtFirst("="), let algorithm = FileDigest.Algorithm(rawValue: name.lowercased()),
      let digest = try? FileDigest(algorithm, value)
    else { throw PlanError("--digest takes sha-256=DIGEST or sha-512=DIGEST, in hexadecimal or Base64.") }
    return digest
  }
}
