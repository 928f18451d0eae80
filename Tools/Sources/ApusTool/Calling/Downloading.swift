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
    // The library accepts coded content only from requests that ask for it.
    for field in request.fields where field.name.lowercased() == "accept-encoding" {
      endpoint = endpoint.field(field.name, field.value)
    }
    return endpoint
  }
}

/// The execution of `apus download`.
struct Downloading: Sendable {
  let plan: DownloadPlan
  let connection: ConnectionPlan
  let outputs: Outputs

  /// Downloads the file. Prints its name if the server has suggested it.
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
    // A file that cannot be renamed is complete under its first name.
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
    var failure: CallError?
    do throws(CallError) {
      _ = try await client.download(endpoint, to: path, options: options)
    } catch {
      failure = error
    }
    await drawn
    if let failure { throw Ending(download: failure) }
  }
}

extension Ending {
  /// Creates the ending for the error of a download, with the way to continue.
  init(download error: CallError) {
    self.init(error)
    guard let transfer = error.transfer else { return }
    complaint?.sentence += Self.advice(transfer)
    complaint?.drop(transfer)
  }

  private static func advice(_ transfer: TransferError) -> String {
    if transfer.reason == .fileExists { return " Use --force to replace it, or --output for another name." }
    guard transfer.keptBytes > 0 else { return "" }
    let total = transfer.total.map { " of \($0)" } ?? ""
    return " \(transfer.keptBytes)\(total) bytes are kept; the same command with --continue continues."
  }
}

extension Complaint {
  /// Removes the reason of a transfer's failure from the end of the details, because it names the ways to continue of
  /// an app.
  mutating func drop(_ transfer: TransferError) {
    guard detail.hasSuffix(transfer.description) else { return }
    detail = String(detail.dropLast(transfer.description.count).reversed().drop { "; :".contains($0) }.reversed())
  }
}
