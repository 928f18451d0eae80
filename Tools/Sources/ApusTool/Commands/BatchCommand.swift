import Apus
import ArgumentParser

/// `apus batch`
struct BatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch",
    abstract: "Sends many requests concurrently: JSON lines in, JSON lines out.",
    discussion: """
      Each line of standard input is a request:
        {"n":1,"method":"GET","url":"…","headers":[["k","v"]],"body":"…",
         "redirect":"follow","timeout_s":6,"max_body":67108864}
      Only n and url are required. redirect is follow or manual. The default of timeout_s is --timeout, or 30 seconds; \
      it includes the wait for a connection.

      Each line of the output is the result of a request, in order of completion. Field (header) names are in lower \
      case:
        {"n":1,"status":200,"headers":[["k","v"]],"body":"…","interim":[[103,{"link":"…"}]]}
        {"n":1,"error":"…","code":"…","requestState":"…"}
      With --cache a result also has the members cache (hit, stale, revalidated or miss) and stored (true or false).
      Every status is a result. The body is text: UTF-8 if valid, otherwise Latin-1. requestState is notSent, \
      maybeSent or responded. An invalid line gets an error with the code badLine, and with --bearer or --basic a line of \
      another origin than that of the credentials one with the code otherOrigin; the other lines are still sent.

      Requests are sent concurrently: a line may be sent before a line above it has set its cookies or is stored. \
      --in-order sends one after the other.

      The command ends when the input has ended and every request has its line, with status 0 whatever the results.

      \(ExitStatus.table)
      """)

  @Option(
    help: ArgumentHelp("The maximum number of connections to one origin; further requests wait.", valueName: "count"))
  var connections = 2048

  @Option(
    name: .customLong("credentials-for"),
    help: ArgumentHelp(
      "The only origin that gets the credentials of --bearer or --basic. Default: that of the first line.",
      valueName: "origin"))
  var credentialsFor: String?

  @Flag(help: "Send each request when the result of the line before is written.")
  var inOrder = false

  @OptionGroup(title: "Cookies and cache")
  var state: StateOptions

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func validate() throws {
    guard (1...100_000).contains(connections) else { throw ValidationError("--connections takes 1 to 100000.") }
  }

  func run() async throws {
    let openFiles = OpenFiles.raiseLimit()
    let batch = try await CommandInterpretation.of {
      var plan = try await connection.planWithProfile()
      plan.connections = connections
      plan.openFiles = openFiles
      try state.apply(to: &plan)
      return Batch(
        clients: Clients(transport: try plan.makeTransport(host: nil, limitsEachWait: false), plan: plan),
        scope: try scope(of: plan.credentials), followsRedirects: plan.followsRedirects, showsTraces: connection.trace,
        isInOrder: inOrder,
        isOnTerminal: Terminal.current().showsOutput, input: .standardInput(), output: .standardOutput(),
        error: .standardError())
    }
    let status = await Interruption.during { await batch.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the origin of the credentials; `nil` without credentials, and for a profile, whose credentials belong to
  /// its server.
  ///
  /// - Throws: ``PlanError``
  func scope(of credentials: CredentialPlan?) throws(PlanError) -> CredentialScope? {
    switch credentials {
    case .bearer?, .basic?:
      guard let credentialsFor else { return CredentialScope(nil) }
      return CredentialScope(try Self.origin(credentialsFor))
    case .profile?, nil:
      guard credentialsFor == nil else { throw PlanError("--credentials-for needs --bearer or --basic.") }
      return nil
    }
  }

  private static func origin(_ text: String) throws(PlanError) -> Origin {
    let url = try TargetURL.named(text, relativeTo: nil)
    guard url.target == "/", url.userInformation == nil else {
      throw PlanError("--credentials-for takes scheme, host and port, for example \(url.origin).")
    }
    return url.origin
  }
}
