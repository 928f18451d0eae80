import Apus
import ArgumentParser
import HTTPTypes

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
      colour unless NO_COLOR is set. The content of a rejection is printed as well, never to the file of --output. \
      Messages go to standard error.

      \(ExitStatus.table)
      """)

  @Argument(help: ArgumentHelp("Method, URL and items.", valueName: "METHOD-URL-items"))
  var words: [String] = []

  @Option(
    name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A field (header) of the request, for example 'Accept: text/csv'; repeatable.", valueName: "Name: value"))
  var header: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("JSON content; @FILE reads a file, - standard input.", valueName: "text"))
  var json: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A parameter of form content; repeatable.", valueName: "name=value"))
  var form: [String] = []

  @Option(
    name: [.customShort("d"), .long], parsing: .unconditional,
    help: ArgumentHelp(
      "Content of any kind; @FILE streams a file, - standard input.", valueName: "text"))
  var data: String?

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write the content to this file, atomically.", valueName: "file"))
  var output: String?

  @Flag(name: [.customShort("i"), .long], help: "Print the response's status and fields before its content.")
  var include = false

  @Flag(help: "Print content unchanged, even on a terminal.")
  var raw = false

  @Flag(help: "Print the call as a curl command line, with secrets and content masked, instead of sending it.")
  var curl = false

  @Flag(help: "Show secrets and content in the output of --curl.")
  var showSecrets = false

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    let (plan, connection) = try await plans()
    let sending = Sending(
      plan: plan, connection: connection, terminal: .current(), output: .standardOutput(), error: .standardError())
    let status = await Interruption.during { [curl, showSecrets] in
      curl ? await sending.printCurl(showsSecrets: showSecrets) : await sending.run()
    }
    throw ExitCode(status.rawValue)
  }

  /// Interprets the command line.
  ///
  /// - Throws: `ValidationError` for an invalid command line; `ExitCode` after an unreadable file was reported.
  private func plans() async throws -> (SendPlan, ConnectionPlan) {
    try await Meaning.of {
      let connection = try await self.connection.planWithProfile()
      return (try plan(relativeTo: connection.credentials?.origin), connection)
    }
  }

  /// Returns the plan of the request.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> SendPlan {
    let words = try Words(self.words)
    let content = try content(members: words.items)
    let token = words.method ?? (content == .none ? "GET" : "POST")
    guard let method = HTTPRequest.Method(rawValue: token) else { throw PlanError("“\(token)” is not a valid method.") }
    let url: TargetURL
    do {
      url = try TargetURL(word: words.url, relativeTo: origin)
    } catch {
      throw PlanError(error)
    }
    var plan = SendPlan(method: method, url: url)
    plan.content = content
    for line in header { plan.fields.append(try Self.field(line)) }
    for case .field(let name, let value) in words.items { plan.fields.append(RawField(name, value)) }
    guard output != "" else { throw PlanError("--output takes the name of a file.") }
    plan.output = output == "-" ? nil : output
    plan.includesHead = include
    plan.isRaw = raw
    plan.showsTrace = connection.trace
    return plan
  }

  private func content(members items: [Item]) throws(PlanError) -> ContentPlan {
    var plans: [ContentPlan] = []
    var members: [String] = []
    for case .member(let name, let json) in items { members.append("\(JSONText.quoted(name)):\(json)") }
    if !members.isEmpty { plans.append(.text("{\(members.joined(separator: ","))}", .json)) }
    if let json { plans.append(try Self.json(json)) }
    if let data { plans.append(ContentPlan(data, text: .text, bytes: .bytes)) }
    if !form.isEmpty {
      var parameters: [ContentPlan.FormParameter] = []
      for text in form { parameters.append(try Self.parameter(text)) }
      plans.append(.form(parameters))
    }
    guard plans.count <= 1 else {
      throw PlanError("--json, --form, --data and name=value are mutually exclusive.")
    }
    return plans.first ?? .none
  }

  private static func json(_ value: String) throws(PlanError) -> ContentPlan {
    let plan = ContentPlan(value, text: .json, bytes: .json)
    if case .text(let text, _) = plan, !JSONText.isValid(text) { throw PlanError("The value of --json is not JSON.") }
    return plan
  }

  private static func parameter(_ text: String) throws(PlanError) -> ContentPlan.FormParameter {
    guard let (name, value) = text.splitAtFirst("=") else { throw PlanError("--form takes name=value.") }
    return .init(name: name, value: value)
  }

  private static func field(_ line: String) throws(PlanError) -> RawField {
    guard let (name, value) = line.splitAtFirst(":") else { throw PlanError("--header takes 'Name: value'.") }
    return RawField(name, Item.trimmed(value))
  }
}
