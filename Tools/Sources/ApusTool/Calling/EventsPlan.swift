import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The event stream of `apus events`.
struct EventsPlan: Sendable {
  var request: RequestPlan
  /// The last event ID of the first request; `nil` for none.
  var lastEventID: String?
  var reconnects = true
  /// Whether the traces are printed.
  var showsTrace = false

  /// Returns the request.
  ///
  /// - Throws: ``InputError``
  func endpoint(_ connection: ConnectionPlan) throws(InputError) -> Request<EventStream<ServerSentEvent>> {
    try request.eventStream(connection).streaming { options in
      options.reconnects = reconnects
      options.lastEventID = lastEventID
    }
  }
}

/// The execution of `apus events`.
struct Listening: Sendable {
  let plan: EventsPlan
  let connection: ConnectionPlan
  let outputs: Outputs

  /// Prints the events until the stream ends.
  func run() async -> ExitStatus {
    await outputs.run {
      let client = try await connection.client(
        for: plan.request.url, observers: outputs.observers(showsTraces: plan.showsTrace))
      let terminal = outputs.terminal
      for try await event in client.stream(try plan.endpoint(connection)) {
        try await outputs.output.write(
          terminal.showsOutput ? EventText.shown(event, hasColors: terminal.hasColors) : EventText.line(event))
      }
    }
  }
}
