import Apus
import ArgumentParser
import HTTPTypes

/// `apus send`
struct SendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Sends one request and prints the content of its answer.",
    usage: "apus send [<options>] [<METHOD>] <URL> [<item> ...]",
    discussion: """
      Without a METHOD it is GET, or POST when there is content. A URL without a scheme gets https, or http where it \
      is of this machine; with --profile a path such as /users is enough. Items behind the URL:
        Name:value     a field of the request
        name=text      a member of a JSON object that is sent
        name:=json     the same with a number, true, false, null, an array or an object

      The content of the answer goes to standard output as it came; on a terminal JSON is laid out in colour (unless \
      NO_COLOR is set). The content of a refused answer is printed too, and never goes into the file of --output. What \
      else there is to say goes to standard error.

      \(ExitStatus.table)
      """)

  @Argument(help: ArgumentHelp("Method, URL and items.", valueName: "METHOD-URL-items"))
  var words: [String] = []

  @Option(
    name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A field of the request, for example 'Accept: text/csv'; may repeat.", valueName: "Name: value"))
  var header: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("JSON as the content; @FILE reads a file, - the standard input.", valueName: "text"))
  var json: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A parameter of a form as the content; may repeat.", valueName: "name=value"))
  var form: [String] = []

  @Option(
    name: [.customShort("d"), .long], parsing: .unconditional,
    help: ArgumentHelp(
      "Anything as the content; @FILE sends a file, - the standard input, without loading either.", valueName: "text"))
  var data: String?

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write the content into this file, which is there whole or not at all.", valueName: "file"))
  var output: String?

  @Flag(name: [.customShort("i"), .long], help: "Print status and fields of the answer before its content.")
  var include = false

  @Flag(help: "Print content as it came, also on a terminal.")
  var raw = false

  @Flag(help: "Print the call as a curl command line instead of sending it. Secrets and content are masked.")
  var curl = false

  @Flag(help: "Show secrets and content in what --curl prints.")
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

  /// What the words and options mean.
  ///
  /// - Throws: `ValidationError` for what makes no sense; `ExitCode` for files that cannot be read, which is said.
  private func plans() async throws -> (SendPlan, ConnectionPlan) {
    try await Meaning.of {
      let connection = try await self.connection.planWithProfile()
      return (try plan(relativeTo: connection.credentials?.origin), connection)
    }
  }

  /// What is sent, and what becomes of the answer.
  ///
  /// - Parameter origin: what a URL without scheme and host belongs to; `nil`: there is none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> SendPlan {
    let words = try Words(self.words)
    let content = try content(members: words.items)
    let token = words.method ?? (content == .none ? "GET" : "POST")
    guard let method = HTTPRequest.Method(rawValue: token) else { throw PlanError("“\(token)” is no method.") }
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
      throw PlanError("There is one content only: --json, --form, --data and name=value exclude each other.")
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
