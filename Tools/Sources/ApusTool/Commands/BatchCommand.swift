import ArgumentParser

/// `apus batch`
struct BatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch",
    abstract: "Sends many requests at once, from lines of JSON to lines of JSON.",
    discussion: """
      Each line of the standard input is a request:
        {"n":1,"method":"GET","url":"…","headers":[["k","v"]],"body":"…",
         "redirect":"follow","timeout_s":6,"max_body":67108864}
      Only n and url are needed. redirect is follow or manual; without timeout_s --timeout counts, or 30 seconds; \
      waiting for a connection counts too.

      Each line of the output is the end of a request, in the order in which they end; names of fields are in lower \
      case:
        {"n":1,"status":200,"headers":[["k","v"]],"body":"…","interim":[[103,{"link":"…"}]]}
        {"n":1,"error":"…","code":"…","requestState":"…"}
      Every status is an answer. The content is text: UTF-8, or Latin-1 where it is not that. requestState is notSent, \
      maybeSent or answered. A line that cannot be used gets an error with the code badLine, and nothing stops.

      The command ends when the input has ended and everything is answered, with status 0 whatever the answers are.

      \(ExitStatus.table)
      """)

  @Option(help: ArgumentHelp("The most connections to one origin; requests beyond wait for one.", valueName: "count"))
  var connections = 2048

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func validate() throws {
    guard (1...100_000).contains(connections) else { throw ValidationError("--connections takes 1 to 100000.") }
  }

  func run() async throws {
    let openFiles = OpenFiles.raiseLimit()
    let batch = try await Meaning.of {
      var plan = try await connection.planWithProfile()
      plan.connections = connections
      plan.openFiles = openFiles
      return Batch(
        clients: Clients(transport: try plan.makeTransport(host: nil, limitsEachWait: false), plan: plan),
        followsRedirects: plan.followsRedirects, showsTraces: connection.trace,
        isOnTerminal: Terminal.current().showsOutput, input: .standardInput(), output: .standardOutput(),
        error: .standardError())
    }
    let status = await Interruption.during { await batch.run() }
    throw ExitCode(status.rawValue)
  }
}
