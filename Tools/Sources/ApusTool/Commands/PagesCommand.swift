import Apus
import ArgumentParser

/// `apus pages`
struct PagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pages",
    abstract: "Prints the elements of all pages of a list.",
    usage: "apus pages [<options>] [<METHOD>] <URL> [<item> ...]",
    discussion: """
      Method, URL, items and content are those of `apus send`. Each page is a JSON array, or has one at --items. In a \
      pipe each element is a line of JSON with its members, numbers and strings as the server wrote them.

      The next page is that of the field Link with rel="next", or of one of --next, --cursor, --page and --offset. \
      PATH is the names of members, separated by dots, for example meta.next; a number is an index of an array. URLs may \
      be relative. Credentials are sent only to the URL's origin, as are fields except those like Accept.

      \(ExitStatus.table)
      """)

  @OptionGroup var request: RequestOptions

  @Option(help: ArgumentHelp("The place of the array of elements. Default: the whole content.", valueName: "path"))
  var items: String?

  @Option(
    help: ArgumentHelp(
      "The place of the next page's URL in the content, or `link` for the field Link. Default: link.",
      valueName: "path|link"))
  var next: String?

  @Option(
    help: ArgumentHelp(
      "Send the value at this place in the content as this query parameter, until there is none.",
      valueName: "name=path"))
  var cursor: String?

  @Option(
    help: ArgumentHelp(
      "Send the number of the page, from 1, as this query parameter, until a page is empty.", valueName: "name"))
  var page: String?

  @Option(
    help: ArgumentHelp(
      "Send the number of elements before the page as this query parameter, until a page is empty.", valueName: "name"))
  var offset: String?

  @Option(help: ArgumentHelp("The maximum number of elements. Default: all.", valueName: "number"))
  var max: Int?

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    let (plan, connection) = try await CommandInterpretation.of(connection) { origin throws(PlanError) in
      try self.plan(relativeTo: origin)
    }
    let paging = Paging(plan: plan, connection: connection, outputs: .current())
    let status = await Interruption.during { await paging.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the plan of the list.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> PagesPlan {
    var plan = PagesPlan(request: try request.plan(relativeTo: origin))
    plan.items = items
    plan.next = try nextPage(after: plan.request.url)
    if let max, max < 1 { throw PlanError("--max takes a number above 0.") }
    plan.limit = max
    plan.showsTrace = connection.trace
    return plan
  }

  private func nextPage(after url: TargetURL) throws(PlanError) -> PagesPlan.Next {
    var choices: [PagesPlan.Next] = []
    if let next { choices.append(next == "link" ? .link : .url(at: next)) }
    if let cursor {
      guard let (name, path) = cursor.splitAtFirst("="), !name.isEmpty, !path.isEmpty else {
        throw PlanError("--cursor takes name=path.")
      }
      choices.append(.cursor(parameter: try Self.parameter(name, in: url), at: path))
    }
    if let page { choices.append(.number(parameter: try Self.parameter(page, in: url))) }
    if let offset { choices.append(.offset(parameter: try Self.parameter(offset, in: url))) }
    guard choices.count <= 1 else { throw PlanError("--next, --cursor, --page and --offset are mutually exclusive.") }
    return choices.first ?? .link
  }

  private static func parameter(_ name: String, in url: TargetURL) throws(PlanError) -> String {
    let query = url.target.splitAtFirst("?")?.1 ?? ""
    guard !query.split(separator: "&").contains(where: { $0.prefix { $0 != "=" } == name }) else {
      throw PlanError("The URL already has the query parameter \(name).")
    }
    return name
  }
}
