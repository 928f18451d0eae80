import Apus
import ArgumentParser

/// `apus events`
struct EventsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events",
    abstract: "Prints the events of an event stream (server-sent events).",
    usage: "apus events [<options>] [<METHOD>] <URL> [<item> ...]",
    discussion: """
      Method, URL, items and content are those of `apus send`. In a pipe each event is a line of JSON:
        {"event":"message","id":"7","data":"…"}
      The data is a string. The id is the last event ID, empty if there was none.

      The stream is reconnected with the last event ID when its response ends, after the delay that the server sets or a \
      random one of up to 3 seconds. A request that is neither GET nor QUERY is reconnected only with a last event ID. \
      The status is 0 when the stream ends for good, with 204 or with --no-reconnect. --timeout limits each connection.

      \(ExitStatus.table)
      """)

  @OptionGroup var request: RequestOptions

  @Option(
    name: .customLong("last-event-id"),
    help: ArgumentHelp("The ID of the last event received, sent in Last-Event-ID.", valueName: "id"))
  var lastEventID: String?

  @Flag(name: .customLong("no-reconnect"), help: "End with the first response.")
  var noReconnect = false

  @OptionGroup(title: "Connection")
  var connection: ConnectionOptions

  func run() async throws {
    let (plan, connection) = try await CommandInterpretation.of(connection) { origin throws(PlanError) in
      try self.plan(relativeTo: origin)
    }
    let listening = Listening(plan: plan, connection: connection, outputs: .current())
    let status = await Interruption.during { await listening.run() }
    throw ExitCode(status.rawValue)
  }

  /// Returns the plan of the stream.
  ///
  /// - Parameter origin: the origin of a URL that is only a path; `nil` for none.
  /// - Throws: ``PlanError``
  func plan(relativeTo origin: Origin? = nil) throws(PlanError) -> EventsPlan {
    var plan = EventsPlan(request: try request.plan(relativeTo: origin))
    plan.lastEventID = lastEventID
    // A fixed field would replace the last event ID of each reconnection.
    let isLastEventID = { (field: RawField) in field.name.lowercased() == "last-event-id" }
    if let field = plan.request.fields.last(where: isLastEventID) {
      guard lastEventID == nil else {
        throw PlanError("--last-event-id and the field \(field.name) exclude each other.")
      }
      plan.lastEventID = field.value
      plan.request.fields.removeAll(where: isLastEventID)
    }
    plan.reconnects = !noReconnect
    plan.showsTrace = connection.trace
    return plan
  }
}
