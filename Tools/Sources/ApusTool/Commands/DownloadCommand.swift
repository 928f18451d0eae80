import Apus
import ApusTransfers
import ArgumentParser
import HTTPTypes

/// `apus download`
struct DownloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download",
    abstract: "Downloads a file, and continues an interrupted download.",
    discussion: """
      The content (body) is written to FILE.apus-part, which gets its name when it is complete, verified and on the disk. \
      Without --output the server suggests the name; it is printed, it never contains a folder or begins with a dot, and \
      it gets a number if a file with that name exists. A lost connection is continued up to five times if the server \
      permits it.

      After an interruption the same command with --continue continues. Without it the download starts over.

      \(ExitStatus.table)
      """)

  @Argument(help: ArgumentHelp("The URL of the file.", valueName: "URL"))
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

  @OptionGroup var fields: FieldOptions

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    let (plan, connection) = try await Meaning.of(connection) { origin throws(PlanError) in
      try self.plan(relativeTo: origin)
    }
    let downloading = Downloading(plan: plan, connection: connection, outputs: .current())
    let status = await Interruption.during { await downloading.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the plan of the download.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> DownloadPlan {
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
    plan.options = DownloadOptions(replacesExisting: force, resumes: continues, digest: try digest.map(Self.digest))
    plan.showsTrace = connection.trace
    return plan
  }

  private static func digest(_ text: String) throws(PlanError) -> FileDigest {
    guard let (name, value) = text.splitAtFirst("="), let algorithm = FileDigest.Algorithm(rawValue: name.lowercased()),
      let digest = try? FileDigest(algorithm, value)
    else { throw PlanError("--digest takes sha-256=DIGEST or sha-512=DIGEST, in hexadecimal or Base64.") }
    return digest
  }
}
