import Apus
import ArgumentParser

/// `apus send`
struct SendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Sends a request and prints the content of the response.",
    usage: "apus send [<options>] [<METHOD>] <URL> [<item> ...]",
    discussion: """
      The default METHOD is GET, or POST with content. The default scheme of a URL is https, or http for this machine; \
      with --profile a path such as /users is enough. Items after the URL:
        Name:value     a field (header) of the request
        name=text      a member of the JSON object to send
        name:=json     a member with a number, true, false, null, an array or an object

      The content (body) of the response is written to standard output unchanged; on a terminal JSON is formatted, in \
      color unless NO_COLOR is set. The content of a rejection is printed as well, never to the file of --output, which \
      must not be a link. Messages go to standard error.

      \(ExitStatus.table)
      """)

  @OptionGroup var request: RequestOptions

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write the content to this file, atomically.", valueName: "file"))
  var output: String?

  @Flag(
    help: ArgumentHelp(
      "Accept content codings and write the decoded content to the file of --output. Without it the file gets the bytes "
        + "as the server has them. Standard output always gets decoded content."))
  var compressed = false

  @Flag(name: [.customShort("i"), .long], help: "Print the response's status and fields before its content.")
  var include = false

  @Flag(help: "Print content unchanged, even on a terminal.")
  var raw = false

  @Flag(help: "Print the call as a curl command line, with secrets and content masked, instead of sending it.")
  var curl = false

  @Flag(help: "Show secrets and content in the output of --curl.")
  var showSecrets = false

  @OptionGroup(title: "Cookies and cache")
  var state: StateOptions

  @OptionGroup(title: "AWS signature")
  var aws: AWSSigningOptions

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    let signing = try await CommandInterpretation.of { try aws.plan() }
    var (plan, connection) = try await CommandInterpretation.of(connection, signing: signing) {
      origin throws(PlanError) in
      try self.plan(relativeTo: origin)
    }
    try await CommandInterpretation.of { try state.apply(to: &connection) }
    let sending = Sending(
      plan: plan, connection: connection, terminal: .current(), output: .standardOutput(), error: .standardError())
    let status = await Interruption.during { [curl, showSecrets] in
      curl ? await sending.printCurl(showsSecrets: showSecrets) : await sending.run()
    }
    throw ExitCode(status.rawValue)
  }

  /// Returns the plan of the request.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> SendPlan {
    var plan = SendPlan(request: try request.plan(relativeTo: origin))
    guard output != "" else { throw PlanError("--output takes the name of a file.") }
    plan.output = output == "-" ? nil : output
    plan.includesHead = include
    plan.isRaw = raw
    plan.showsTrace = connection.trace
    if plan.output != nil, !compressed { plan.refuseCodings() }
    return plan
  }
}
