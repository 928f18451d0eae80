import Apus
import ApusTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of `apus upload`, and the protocol that sends it.
struct UploadPlan: Sendable {
  /// The protocol of an upload.
  enum Style: Sendable, Hashable {
    /// One request, which cannot be continued.
    case plain
    /// tus 1.0.0, with the algorithm of the checksum of each part; `nil` for none.
    case tus(UploadProtocol.Checksum?)
    /// The IETF draft "Resumable Uploads for HTTP".
    case ietf
  }

  /// The request, whose content is the file, and the presentation of its response.
  var sending: SendPlan
  var style = Style.plain
  /// Whether an incomplete upload is discarded first.
  var restarts = false

  /// Returns the request of a resumable upload. None of its fields are sent to other origins.
  ///
  /// - Throws: ``InputError`` for a file that cannot be read, or that can be read only once.
  func endpoint(_ connection: ConnectionPlan) throws(InputError) -> Request<Content> {
    let request = sending.request
    if case .file(let path, _) = request.content, try !InputFile.check(path) {
      throw InputError(place: path, reason: "only a regular file can be read again after an interruption")
    }
    // The endpoint has no `WrittenMessage`, which would also replace the target and fields of the upload's further
    // requests.
    var endpoint = Request<Content>(
      method: request.method, path: .url("\(request.url.origin)\(request.url.target)"),
      content: try request.content.content(), mapping: .content)
    endpoint.fields = Self.joined(request.fields)
    return connection.applied(to: endpoint)
  }

  /// Returns fields with the values of repeated names joined, which is equivalent (RFC 9110 §5.3).
  private static func joined(_ fields: [RawField]) -> [RawField] {
    fields.reduce(into: []) { joined, field in
      guard let index = joined.firstIndex(where: { $0.name.lowercased() == field.name.lowercased() }) else {
        return joined.append(field)
      }
      joined[index] = RawField(field.name, "\(joined[index].value), \(field.value)")
    }
  }
}

/// The execution of `apus upload` with a protocol for resumable uploads.
struct Uploading: Sendable {
  let plan: UploadPlan
  let connection: ConnectionPlan
  let outputs: Outputs
  /// The variables that determine the folder for the state of uploads.
  let environment: [String: String]

  /// Uploads the file. Prints the URL of the upload with tus, otherwise the response.
  func run() async -> ExitStatus {
    await outputs.run {
      let endpoint = try plan.endpoint(connection)
      let options = UploadOptions(
        store: try await UserFolder.transferStore(in: environment),
        account: connection.credentials?.profileName?.description)
      let watch = CallWatch(bar: nil, error: outputs.error)
      let client = try await connection.client(
        for: plan.sending.request.url, observers: outputs.observers(showsTraces: plan.sending.showsTrace) + [watch])
      if plan.restarts {
        do throws(CallError) {
          try await client.discardUpload(endpoint, by: uploadProtocol, options: options)
        } catch {
          throw Ending(upload: error)
        }
      }
      let result = try await upload(endpoint, with: client, options)
      try await show(result, over: watch.protocolVersion)
    }
  }

  /// The protocol. `URLSession` does not report interim responses, without which content of the first request cannot be
  /// resumed.
  private var uploadProtocol: UploadProtocol {
    switch plan.style {
    case .tus(let checksum): .tus(checksum: checksum)
    case .plain, .ietf: connection.transport == .urlsession ? .ietf(createsFirst: true) : .ietf()
    }
  }

  private func upload(
    _ endpoint: Request<Content>, with client: Client, _ options: UploadOptions
  ) async throws -> UploadResult<Content> {
    let drawing = ProgressDrawing(direction: .sent, terminal: outputs.terminal, error: outputs.error)
    let progress = ProgressReporter()
    // The upload ends the progress, whether it succeeds or fails.
    async let drawn: Void = drawing.follow(progress)
    let result: Result<UploadResult<Content>, CallError>
    do throws(CallError) {
      result = .success(
        try await client.upload(endpoint.uploadProgress(progress), by: uploadProtocol, options: options))
    } catch {
      result = .failure(error)
    }
    await drawn
    return try result.mapError { Ending(upload: $0) }.get()
  }

  private func show(_ result: UploadResult<Content>, over version: HTTPVersion?) async throws {
    let terminal = outputs.terminal
    if case .tus = plan.style {
      guard let url = result.url else { return }
      let line = Data("\(url)\n".utf8)
      return try await outputs.output.write(terminal.showsOutput ? TerminalText.harmless(line) : line)
    }
    if plan.sending.includesHead {
      let text = Sending.text(of: result.head, over: version)
      let isRaw = plan.sending.isRaw || !terminal.showsOutput
      try await outputs.output.write(Data((isRaw ? text : TerminalText.harmless(text)).utf8))
    }
    guard !result.value.data.isEmpty else { return }
    var display = Display(
      result.head.headerFields[.contentType].map { MediaType($0) }, on: terminal.showsOutput ? terminal : nil,
      isRaw: plan.sending.isRaw)
    guard let shown = display.show(result.value.data) else {
      throw Ending(.output, Complaint(sentence: "The content is binary. Use --raw to print it."))
    }
    try await outputs.output.write(shown + display.finish())
  }
}

extension UserFolder {
  /// Returns the store of interrupted uploads. Creates its folder if it is missing.
  static func transferStore(in environment: [String: String]) async throws -> FileTransferStore {
    guard let state = UserFolder.state.path(in: environment) else {
      throw Ending(.output, Complaint(sentence: "The state of uploads has no folder: HOME is not set."))
    }
    let folder = "\(state)/transfers"
    try await Blocking("state").runUnlessCancelled { Result { try PrivateFile.makeFolder(folder) } }.get()
    return FileTransferStore(folder)
  }
}

extension CredentialPlan {
  /// The name of the profile; `nil` for other credentials.
  var profileName: ProfileName? {
    if case .profile(let signedIn) = self { signedIn.profile.name } else { nil }
  }
}

extension Ending {
  /// Creates the ending for the error of an upload, including how to continue.
  init(upload error: CallError) {
    self.init(error)
    guard let transfer = error.transfer else { return }
    if transfer.reason == .inUse { complaint?.sentence = "This file is already being uploaded." }
    guard transfer.reason == .interrupted else {
      complaint?.detail.replace("the same call", with: "the same command")
      return
    }
    complaint?.shorten(transfer)
    if transfer.keptBytes > 0 {
      let total = transfer.total.map { " of \($0)" } ?? ""
      complaint?.sentence += " \(transfer.keptBytes)\(total) bytes are kept; the same command continues."
    } else if [.cancelled, .timeout, .connectionLost].contains(error.code) {
      // The server may have more bytes than its responses have stated.
      complaint?.sentence += " The same command continues with what the server has."
    }
  }
}
