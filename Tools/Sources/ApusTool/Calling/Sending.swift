import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does what `apus send` is asked to.
struct Sending: Sendable {
  let plan: SendPlan
  let connection: ConnectionPlan
  let terminal: Terminal
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Sends, and writes what comes.
  func run() async -> ExitStatus {
    let bar = terminal.showsErrors ? ProgressBar(width: terminal.width) : nil
    let watch = CallWatch(bar: bar, error: error)
    let ending: Ending
    do {
      ending = try await send(watch)
    } catch {
      ending = Ending(error)
    }
    await watch.stopDrawing()
    await say(ending.complaint?.text)
    if plan.showsTrace { await say(watch.trace.map { TerminalText.harmless("\($0)\n") }) }
    return ending.status
  }

  /// Prints the call as a command line of curl.
  ///
  /// - Parameter showsSecrets: whether they are not masked.
  func printCurl(showsSecrets: Bool) async -> ExitStatus {
    do {
      let request = try plan.request(connection)
      let message = try await client(observers: []).message(for: request)
      let line = CurlLine(message: message, plan: plan, connection: connection, showsSecrets: showsSecrets)
      try await output.write(shown(line.text + "\n"))
      return .accepted
    } catch {
      let ending = Ending(error)
      await say(ending.complaint?.text)
      return ending.status
    }
  }

  private func client(observers: [any CallObserver]) async throws -> Client {
    // Certificates may come through a pipe that somebody is slow to write.
    let transport = try await Blocking("read").runUnlessCancelled { [plan, connection] in
      Result { try connection.makeTransport(host: plan.url.origin.host, limitsEachWait: connection.timeout == nil) }
    }.get()
    return try Clients(transport: transport, plan: connection, observers: observers).client(for: plan.url)
  }

  private func send(_ watch: CallWatch) async throws -> Ending {
    let client = try await client(observers: [watch])
    let request = try plan.request(connection)
    // Before anything is sent: an answer that cannot be kept need not be asked for.
    var file: OutputFile?
    if let path = plan.output { file = try await OutputFile.opened(path) }
    defer { file?.giveUp() }
    return try await client.withResponse(to: request) { response in
      try await take(&response, into: file, watch)
    }
  }

  private func take(
    _ response: inout StreamedResponse, into file: OutputFile?, _ watch: CallWatch
  ) async throws -> Ending {
    let head = response.head
    let isAccepted = StatusAcceptance.successful.contains(head.status.code)
    let file = isAccepted ? file : nil
    // Drawing and content on one terminal would write over each other.
    if terminal.showsOutput, file == nil || plan.includesHead { await watch.stopDrawing() }
    if plan.includesHead { try await output.write(shown(Self.text(of: head))) }
    var display = Display(
      head.headerFields[.contentType].map { MediaType($0) },
      on: terminal.showsOutput && file == nil ? terminal : nil, isRaw: plan.isRaw)
    let writer = file?.writer ?? output
    while let piece = try await response.next() {
      guard let shown = display.show(piece) else {
        guard isAccepted else { return Self.refusal(head, detail: "The content is binary. Use --raw to see it.") }
        return Ending(.output, Complaint(sentence: "The content is binary. Use --output FILE, or --raw to see it."))
      }
      try await writer.write(shown)
    }
    let rest = display.finish()
    if !rest.isEmpty { try await writer.write(rest) }
    try file?.keep()
    return isAccepted ? Ending(.accepted) : Self.refusal(head)
  }

  private static func refusal(_ head: HTTPResponse, detail: String = "") -> Ending {
    var complaint = Complaint(refusal: head.status.code, reason: head.status.reasonPhrase)
    complaint.detail = detail
    return Ending(.rejected, complaint)
  }

  private func say(_ text: String?) async {
    guard let text else { return }
    // Where even this cannot be written, there is nobody to tell.
    try? await error.writeToTheEnd(Data(text.utf8))
  }

  /// What goes to standard output: harmless on a terminal unless it is wanted as it came.
  private func shown(_ text: String) -> Data {
    Data((terminal.showsOutput && !plan.isRaw ? TerminalText.harmless(text) : text).utf8)
  }

  /// Status and fields, a line each, and an empty line.
  static func text(of head: HTTPResponse) -> String {
    var text = "\(head.status.code) \(head.status.reasonPhrase)\n"
    for field in head.headerFields { text += "\(field.name.rawName): \(field.text)\n" }
    return text + "\n"
  }
}
