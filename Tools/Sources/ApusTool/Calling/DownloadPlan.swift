import Apus
import ApusTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of `apus download`.
struct DownloadPlan: Sendable {
  var request: RequestPlan
  /// The path of the file; `nil` for the name that the server suggests, in the working directory.
  var output: String?
  var options = DownloadOptions()
  /// Whether the traces are printed.
  var showsTrace = false

  /// Returns the request.
  ///
  /// - Throws: ``InputError``
  func endpoint(_ connection: ConnectionPlan) throws(InputError) -> Request<Content> {
    var endpoint = try request.endpoint(connection)
    // Without these fields, a download sends `Accept-Encoding: identity`.
    for field in codings { endpoint = endpoint.field(field.name, field.value) }
    return endpoint
  }

  /// The fields that state the accepted content codings.
  fileprivate var codings: [RawField] { request.fields.filter { $0.name.lowercased() == "accept-encoding" } }
}

/// The execution of `apus download`.
struct Downloading: Sendable {
  let plan: DownloadPlan
  let connection: ConnectionPlan
  let outputs: Outputs

  /// Downloads the file. Prints its name if the server suggested it.
  func run() async -> ExitStatus {
    await outputs.run {
      let names = NameWatch()
      let client = try await connection.client(
        for: plan.request.url, observers: [names] + outputs.observers(showsTraces: plan.showsTrace))
      guard let path = plan.output else { return try await downloadByName(with: client, names) }
      try await download(to: path, with: client)
    }
  }

  /// Downloads to the name in the URL, because the suggested name is not known yet, and renames the file.
  private func downloadByName(with client: Client, _ names: NameWatch) async throws {
    let first = FileName.suggested(by: .init(status: .ok), url: "\(plan.request.url.origin)\(plan.request.url.target)")
    var path = try FreeName.path(first)
    try await download(to: path, with: client)
    // A complete file that cannot be renamed stays under its first name.
    if let name = names.name, name != first { path = FreeName.rename(path, to: name) ?? path }
    let line = Data("\(path)\n".utf8)
    try await outputs.output.write(outputs.terminal.showsOutput ? TerminalText.harmless(line) : line)
  }

  private func download(to path: String, with client: Client) async throws {
    let drawing = ProgressDrawing(direction: .received, terminal: outputs.terminal, error: outputs.error)
    let progress = ProgressReporter()
    let endpoint = try plan.endpoint(connection).downloadProgress(progress)
    var options = plan.options
    options.account = connection.credentials?.profileName?.description
    // The call ends the progress, whether it succeeds or fails.
    async let drawn: Void = drawing.follow(progress)
    let result: Result<DownloadedFile, CallError>
    do throws(CallError) {
      result = .success(try await client.download(endpoint, to: path, options: options))
    } catch {
      result = .failure(error)
    }
    await drawn
    let file = try result.mapError { Ending(download: $0) }.get()
    if plan.codings.isEmpty, let note = CodingNote.text(for: file.head) { await outputs.error.writeMessage(note) }
  }
}

extension Ending {
  /// Creates the ending for the error of a download, including how to continue.
  init(download error: CallError) {
    self.init(error)
    guard let transfer = error.transfer else { return }
    complaint?.sentence += Self.advice(transfer, error)
    complaint?.shorten(transfer)
  }

  private static func advice(_ transfer: TransferError, _ error: CallError) -> String {
    switch transfer.reason {
    case .fileExists: return " Use --force to replace it, or --output for another name."
    case .sizeLimit: return " Use a larger --max-filesize to allow it." + kept(transfer)
    default: return kept(transfer, mayStartOver: transfer.reason != .interrupted || error.code == .rejected)
    }
  }

  /// - Parameter mayStartOver: whether the message also offers to start over, because a continuation may fail again.
  private static func kept(_ transfer: TransferError, mayStartOver: Bool = false) -> String {
    guard transfer.keptBytes > 0 else { return "" }
    let total = transfer.total.map { " of \($0)" } ?? ""
    let other = mayStartOver ? ", and without it starts over" : ""
    return " \(transfer.keptBytes)\(total) bytes are kept; the same command with --continue continues\(other)."
  }
}

extension Complaint {
  /// Replaces the description of a transfer's failure, at the end of the details, by the failure's cause. The rest of
  /// the description is advice for apps.
  mutating func shorten(_ transfer: TransferError) {
    guard detail.hasSuffix(transfer.description) else { return }
    let first = detail.dropLast(transfer.description.count)
    if let cause = transfer.cause {
      detail = "\(first)\(cause)"
    } else {
      detail = String(first.reversed().drop { "; :".contains($0) }.reversed())
    }
  }
}
