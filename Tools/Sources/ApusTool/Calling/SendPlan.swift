import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The request of `apus send`, and the destination of the response.
struct SendPlan: Sendable {
  var request: RequestPlan
  /// The file for the response's content; `nil` for standard output.
  var output: String?
  /// Whether the response's status and fields (headers) are printed before its content.
  var includesHead = false
  /// Whether content is printed unchanged, even on a terminal.
  var isRaw = false
  /// Whether the trace is printed at the end.
  var showsTrace = false
  /// Whether the request accepts no content coding, so that the file has the server's bytes.
  private(set) var refusesCodings = false

  /// Whether the user states the accepted content codings.
  var namesCodings: Bool {
    !refusesCodings && request.fields.contains { $0.name.lowercased() == "accept-encoding" }
  }

  /// Refuses content codings, unless the user states the accepted codings.
  mutating func refuseCodings() {
    guard !namesCodings else { return }
    request.fields.append(RawField("Accept-Encoding", "identity"))
    refusesCodings = true
  }

  /// Returns the request, which accepts every status, because rejections are printed.
  ///
  /// - Throws: ``InputError`` for content that cannot be read.
  func endpoint(_ connection: ConnectionPlan) throws(InputError) -> Request<Content> {
    try request.endpoint(connection).accepting(.any)
  }
}

/// The execution of `apus send`.
struct Sending: Sendable {
  let plan: SendPlan
  let connection: ConnectionPlan
  let terminal: Terminal
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Sends the request and writes the response.
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
    let status = await ending.reported(on: error)
    if plan.showsTrace, let trace = watch.trace { await error.writeMessage(TerminalText.harmless("\(trace)\n")) }
    return status
  }

  /// Prints the call as a curl command line.
  ///
  /// - Parameter showsSecrets: whether secrets are printed instead of masked.
  func printCurl(showsSecrets: Bool) async -> ExitStatus {
    do {
      let request = try plan.endpoint(connection)
      let message = try await connection.client(for: plan.request.url).message(for: request)
      let line = CurlLine(message: message, plan: plan, connection: connection, showsSecrets: showsSecrets)
      try await output.write(shown(line.text + "\n"))
      return .accepted
    } catch {
      return await Ending(error).reported(on: self.error)
    }
  }

  private func send(_ watch: CallWatch) async throws -> Ending {
    let client = try await connection.client(for: plan.request.url, observers: [watch])
    let request = try plan.endpoint(connection)
    // The file is opened before the request is sent, because the request is useless if its response cannot be stored.
    var file: OutputFile?
    if let path = plan.output { file = try await OutputFile.opened(path) }
    defer { file?.discard() }
    return try await client.withResponse(to: request) { response in
      try await take(&response, into: file, watch)
    }
  }

  private func take(
    _ response: inout StreamedResponse, into file: OutputFile?, _ watch: CallWatch
  ) async throws -> Ending {
    let head = response.head
    let isAccepted = head.status.kind == .successful
    let file = isAccepted ? file : nil
    // The progress bar and content on the same terminal would overwrite each other.
    if terminal.showsOutput, file == nil || plan.includesHead { await watch.stopDrawing() }
    if plan.includesHead { try await output.write(shown(Self.text(of: head, over: response.protocolVersion))) }
    var display = Display(
      head.headerFields[.contentType].map { MediaType($0) },
      on: terminal.showsOutput && file == nil ? terminal : nil, isRaw: plan.isRaw)
    let writer = file?.writer ?? output
    while let piece = try await response.next() {
      guard let shown = display.show(piece) else {
        guard isAccepted else { return Self.rejection(head, detail: "The content is binary. Use --raw to print it.") }
        return Ending(.output, Complaint(sentence: "The content is binary. Use --output FILE, or --raw to print it."))
      }
      try await writer.write(shown)
    }
    let rest = display.finish()
    if !rest.isEmpty { try await writer.write(rest) }
    try file?.commit()
    if !plan.namesCodings, let note = CodingNote.text(for: head, isFile: file != nil) {
      await watch.stopDrawing()
      await error.writeMessage(note)
    }
    return isAccepted ? Ending(.accepted) : Self.rejection(head)
  }

  private static func rejection(_ head: HTTPResponse, detail: String = "") -> Ending {
    var complaint = Complaint(rejection: head.status.code, reason: head.status.reasonPhrase)
    complaint.detail = detail
    return Ending(.rejected, complaint)
  }

  /// Returns text for standard output, with control characters escaped on a terminal unless `--raw` is given.
  private func shown(_ text: String) -> Data {
    Data((terminal.showsOutput && !plan.isRaw ? TerminalText.harmless(text) : text).utf8)
  }

  /// Returns the version, the status and the fields, as curl prints them, and an empty line.
  ///
  /// - Parameter version: the version of HTTP of the response; `nil` if it is unknown.
  static func text(of head: HTTPResponse, over version: HTTPVersion?) -> String {
    var text = version.map { "HTTP/\($0.rawValue) " } ?? ""
    // A status has no reason phrase in HTTP/2 (RFC 9113 §8.3.2).
    text += version == .http2 ? "\(head.status.code)\n" : "\(head.status.code) \(head.status.reasonPhrase)\n"
    for field in head.headerFields { text += "\(field.name.rawName): \(field.text)\n" }
    return text + "\n"
  }
}
