import Apus
import ArgumentParser
import HTTPTypes

/// The fields (headers) of a request.
struct FieldOptions: ParsableArguments {
  @Option(
    name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A field (header) of the request, for example 'Accept: text/csv'; repeatable.", valueName: "Name: value"))
  var header: [String] = []

  /// Returns the fields, in order.
  ///
  /// - Throws: ``PlanError``
  func fields() throws(PlanError) -> [RawField] {
    var fields: [RawField] = []
    for line in header {
      guard let (name, value) = line.splitAtFirst(":") else { throw PlanError("--header takes 'Name: value'.") }
      fields.append(RawField(name, Item.trimmed(value)))
    }
    return fields
  }
}

/// The arguments and options of a request: method, URL, items, fields and content.
struct RequestOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Method, URL and items.", valueName: "METHOD-URL-items"))
  var words: [String] = []

  @OptionGroup var fields: FieldOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("JSON content; @FILE reads a file, - standard input.", valueName: "text"))
  var json: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A parameter of form content; repeatable.", valueName: "name=value"))
  var form: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A part of multipart content: a text, or @FILE, which may be followed by ;type=TYPE and ;filename=NAME; @- is "
        + "standard input. Repeatable.", valueName: "name=value"))
  var multipart: [String] = []

  @Option(
    name: [.customShort("d"), .long], parsing: .unconditional,
    help: ArgumentHelp(
      "Content of any kind; @FILE streams a file, - standard input.", valueName: "text"))
  var data: String?

  /// Returns the plan of the request.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> RequestPlan {
    let words = try Words(self.words)
    let content = try content(members: words.items)
    let token = words.method ?? (content == .none ? "GET" : "POST")
    var plan = RequestPlan(method: try .named(token), url: try .named(words.url, relativeTo: origin))
    plan.content = content
    plan.fields = try fields.fields()
    for case .field(let name, let value) in words.items { plan.fields.append(RawField(name, value)) }
    if case .multipart = content, plan.fields.contains(where: { $0.name.lowercased() == "content-type" }) {
      throw PlanError("--multipart sets Content-Type, which names the boundary between the parts.")
    }
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
    if !multipart.isEmpty { plans.append(.multipart(try PartPlan.all(multipart))) }
    guard plans.count <= 1 else {
      throw PlanError("--json, --form, --multipart, --data and name=value are mutually exclusive.")
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
}

extension HTTPRequest.Method {
  /// Returns a method of the command line.
  ///
  /// - Throws: ``PlanError``
  static func named(_ token: String) throws(PlanError) -> HTTPRequest.Method {
    guard let method = HTTPRequest.Method(rawValue: token) else { throw PlanError("“\(token)” is not a valid method.") }
    return method
  }
}

extension TargetURL {
  /// Returns a URL of the command line.
  ///
  /// - Throws: ``PlanError``
  static func named(_ word: String, relativeTo origin: Origin?) throws(PlanError) -> TargetURL {
    do {
      return try TargetURL(word: word, relativeTo: origin)
    } catch {
      throw PlanError(error)
    }
  }
}
