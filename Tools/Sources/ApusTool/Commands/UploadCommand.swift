import Apus
import ApusTransfers
import ArgumentParser
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `apus upload`
struct UploadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Uploads a file as the content of a request, and continues an interrupted upload.",
    discussion: """
      The file is read while it is sent. The response is printed as by `apus send`.

      With --protocol tus or ietf, for servers that speak it, lost connections are continued, and after an interruption \
      the same command continues with what the server has. tus prints the URL of the upload, ietf the response. What \
      continues an upload is stored in the folder transfers in $APUS_STATE_HOME, or in apus/transfers in \
      $XDG_STATE_HOME or ~/.local/state, which only its owner can access.

      A file for s3://BUCKET/KEY is uploaded in parts, several at once, and is continued in the same way. After a slash, \
      or without a key, the object gets the name of the file.

      \(ExitStatus.table)
      """)

  /// The protocol of an upload.
  enum ProtocolName: String, CaseIterable, ExpressibleByArgument {
    case plain, tus, ietf
  }

  @Argument(help: ArgumentHelp("The file; - is standard input, with the protocol plain.", valueName: "FILE"))
  var file: String

  @Argument(help: ArgumentHelp("The URL to send it to, or s3://BUCKET/KEY.", valueName: "URL"))
  var url: String

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp(
      "The protocol: plain, one request; tus, tus 1.0; ietf, the IETF's draft of resumable uploads.", valueName: "name")
  )
  var protocolName = ProtocolName.plain

  @Flag(help: "Discard an incomplete upload, also on the server, and start over.")
  var restart = false

  @Option(
    help: ArgumentHelp(
      "Let the server verify each part: sha1 or sha256. For tus servers that have the extension.",
      valueName: "algorithm"))
  var checksum: String?

  @Option(help: "The method. Default: PUT, or POST with tus and ietf.")
  var method: String?

  @Option(
    help: ArgumentHelp("The media type. Default: that of the file's extension.", valueName: "media-type"))
  var type: String?

  @Flag(name: [.customShort("i"), .long], help: "Print the response's status and fields before its content.")
  var include = false

  @Flag(help: "Print content unchanged, even on a terminal.")
  var raw = false

  @OptionGroup var fields: FieldOptions

  @OptionGroup(title: "S3")
  var s3: S3Options

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    if S3Place.isNamed(by: url) { throw ExitCode(try await uploadToS3().rawValue) }
    let (plan, connection) = try await CommandInterpretation.of(connection) { origin throws(PlanError) in
      try self.plan(relativeTo: origin)
    }
    let outputs = Outputs.current()
    let status = await Interruption.during {
      guard plan.style == .plain else {
        let environment = ProcessInfo.processInfo.environment
        return await Uploading(plan: plan, connection: connection, outputs: outputs, environment: environment).run()
      }
      return await Sending(
        plan: plan.sending, connection: connection, terminal: outputs.terminal, output: outputs.output,
        error: outputs.error
      ).run()
    }
    throw ExitCode(status.rawValue)
  }

  private func uploadToS3() async throws -> ExitStatus {
    let environment = ProcessInfo.processInfo.environment
    let work = try await CommandInterpretation.of { try workInS3(environment) }
    let (file, mediaType, restart) = (file, type.map { MediaType($0) }, restart)
    return await Interruption.during {
      await work.upload(file, mediaType, restarts: restart, in: environment)
    }
  }

  /// Returns the upload to an S3 location.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func workInS3(_ environment: [String: String]) throws -> S3Work {
    try connection.checkNoCredentials()
    guard !file.isEmpty, file != "-" else { throw PlanError("An upload to S3 needs a file.") }
    guard protocolName == .plain, checksum == nil, method == nil, !include, !raw, try fields.fields().isEmpty else {
      throw PlanError("--protocol, --checksum, --method, --include, --raw and fields are not for places in S3.")
    }
    guard try InputFile.check(file) else {
      throw InputError(place: file, reason: "only a regular file can be read again after an interruption")
    }
    return S3Work(
      place: try S3Place(url), plan: try s3.plan(in: environment), connection: try connection.plan(),
      outputs: .current(), showsTrace: connection.trace)
  }

  /// Returns the plan of the upload.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> UploadPlan {
    guard !file.isEmpty else { throw PlanError("The name of the file is missing.") }
    guard !s3.isUsed else { throw PlanError("The options of S3 need a place such as s3://BUCKET/KEY.") }
    let style = try style()
    let method = method ?? (style == .plain ? "PUT" : "POST")
    // Well-known methods may be in lower case, as with `apus send`.
    let token = method == method.lowercased() ? method.uppercased() : method
    var request = RequestPlan(method: try .named(token), url: try .named(url, relativeTo: origin))
    request.fields = try fields.fields()
    if style != .plain { try checkFields(request.fields) }
    let mediaType = type.map { MediaType($0) }
    request.content = file == "-" ? .input(mediaType ?? .bytes) : .file(file, mediaType ?? MediaType(forFile: file))
    let sending = SendPlan(request: request, includesHead: include, isRaw: raw, showsTrace: connection.trace)
    return UploadPlan(sending: sending, style: style, restarts: restart)
  }

  private func style() throws(PlanError) -> UploadPlan.Style {
    guard checksum == nil || protocolName == .tus else { throw PlanError("--checksum needs --protocol tus.") }
    guard protocolName != .plain else {
      guard !restart else { throw PlanError("--restart needs --protocol tus or ietf.") }
      return .plain
    }
    guard file != "-" else {
      throw PlanError(
        "--protocol \(protocolName.rawValue) needs a file, because standard input cannot be read again after an "
          + "interruption.")
    }
    guard protocolName == .tus else { return .ietf }
    guard !include, !raw else {
      throw PlanError("--include and --raw are for a response; --protocol tus prints the URL of the upload.")
    }
    switch checksum?.lowercased() {
    case nil: return .tus(nil)
    case "sha1": return .tus(.sha1)
    case "sha256": return .tus(.sha256)
    default: throw PlanError("--checksum takes sha1 or sha256.")
    }
  }

  private func checkFields(_ fields: [RawField]) throws(PlanError) {
    guard
      let field = fields.first(where: { field in
        ["upload-", "tus-"].contains { field.name.lowercased().utf8.starts(with: $0.utf8) }
      })
    else { return }
    throw PlanError("The field \(field.name) belongs to the upload itself.")
  }
}
