#if Transfers
import ApusCore
import HTTPTypes
import Synchronization

/// The protocol of the IETF's draft «Resumable Uploads for HTTP», interop version 8
/// (draft-ietf-httpbis-resumable-upload).
struct DraftUpload: UploadDriver {
  let creation: UploadProtocol.Creation

  let name = "ietf"
  /// The server may have processed complete content whose response was lost, and then removed the upload.
  let restartsWhenGone = false
  /// An upload without content has no effect yet.
  var repeatsCreation: Bool { creation == .withoutContent }

  func create(
    _ calls: UploadCalls, note: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    switch creation {
    case .withContent: try await createWithContent(calls, note: note)
    case .withoutContent: try await createWithoutContent(calls)
    }
  }

  /// Sends all content with the first request. A server that can resume it says so in an interim response.
  private func createWithContent(
    _ calls: UploadCalls, note: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    let known = Mutex<UploadTicket?>(nil)
    let base = calls.message.url
    let request = described(calls.request, calls, isComplete: true)
      .setting(InterimResponses.self) { head in
        // Only servers that know this version of the draft name it (appendix on draft versions).
        guard head.status.code == 104, Self.isSameVersion(head.headerFields),
          let ticket = Self.ticket(head.headerFields, relativeTo: base)
        else { return }
        let isNew = known.withLock { known in
          defer { known = ticket }
          return known == nil
        }
        if isNew { note(ticket) }
      }
    do throws(CallError) {
      // The request had all content, so any success is the endpoint's response.
      return .complete(try await calls.send(request, reportingFrom: 0))
    } catch {
      guard var ticket = known.withLock({ $0 }), error.status == 413, !isFinal(error) else { throw error }
      // The server takes the content in parts only.
      let fields = error.head?.headerFields ?? [:]
      ticket.maximumPart = Self.limit("max-append-size", in: fields) ?? ticket.maximumPart
      guard let limit = ticket.maximumPart, limit < calls.length else { throw error }
      return .created(ticket, StoredParts())
    }
  }

  private func createWithoutContent(_ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let response = try await calls.send(described(calls.withoutContent(), calls, isComplete: calls.length == 0))
    if calls.length == 0 { return .complete(response) }
    guard let ticket = Self.ticket(response.fields, relativeTo: response.url) else { return .fail(.noLocation) }
    let maximum = Self.limit("max-size", in: response.fields) ?? .max
    guard calls.length <= maximum else { return .fail(.contentTooLarge(limit: maximum)) }
    return .created(ticket, StoredParts())
  }

  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    do throws(CallError) {
      let fields = try await calls.send(versioned(calls.request(.head, to: ticket.location))).fields
      if UploadField.flag("Upload-Complete", in: fields) == true { return .complete(nil) }
      guard let offset = UploadField.number("Upload-Offset", in: fields),
        UploadField.number("Upload-Length", in: fields) ?? calls.length == calls.length
      else { return .fail(.unusableOffset) }
      return .stored(StoredParts(upTo: offset))
    } catch {
      if error.status == 404 || error.status == 410 { return .gone }
      throw error
    }
  }

  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let isLast = part.upperBound == calls.length
    var request = versioned(calls.request(.patch, to: ticket.location, part: part, as: "application/partial-upload"))
      .field("Upload-Offset", String(part.lowerBound)).field("Upload-Complete", isLast ? "?1" : "?0")
    if isLast { request = request.field("Accept", calls.message.head.headerFields[.accept] ?? "*/*") }
    do throws(CallError) {
      let response = try await calls.send(request, reportingFrom: part.lowerBound)
      if UploadField.flag("Upload-Complete", in: response.fields) == true { return .complete(response) }
      // Bytes were appended, but the upload is not complete, even after the last part: ask for the offset then.
      guard !isLast else { return try await confirm(response, ticket, calls) }
      let offset = UploadField.number("Upload-Offset", in: response.fields) ?? part.upperBound
      guard offset <= part.upperBound else { return .fail(.unusableOffset) }
      return .stored(StoredParts(upTo: offset))
    } catch {
      if isFinal(error) { throw error }
      if error.status == 409 { return .unsure }
      if error.status == 404 || error.status == 410 { return .gone }
      throw error
    }
  }

  /// The last part was accepted by a server that does not say whether the upload is complete.
  private func confirm(
    _ response: Response<Content>, _ ticket: UploadTicket, _ calls: UploadCalls
  ) async throws(CallError) -> UploadStep {
    // The server says that it is not.
    if UploadField.flag("Upload-Complete", in: response.fields) == false { return .unsure }
    switch try await locate(ticket, calls) {
    // An upload may be removed as soon as it is complete.
    case .complete, .gone: return .complete(response)
    case let step: return step
    }
  }

  /// All bytes are there, but the server does not know yet that they are all.
  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep
  {
    try await send(calls.length..<calls.length, of: ticket, calls)
  }

  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) {
    _ = try await calls.send(versioned(calls.request(.delete, to: ticket.location)))
  }

  func isFinal(_ error: CallError) -> Bool {
    guard error.code == .rejected, let fields = error.head?.headerFields else { return false }
    return UploadField.flag("Upload-Complete", in: fields) == true
  }

  private func described(_ request: Request<Content>, _ calls: UploadCalls, isComplete: Bool) -> Request<Content> {
    var request = versioned(request).field("Upload-Complete", isComplete ? "?1" : "?0")
      .field("Upload-Length", String(calls.length))
    // The fields that describe the content are sent even if the content comes later.
    for name in [HTTPField.Name.contentType, .contentEncoding] {
      if let value = calls.message.head.headerFields[name] { request = request.field(name.rawName, value) }
    }
    return request.field("Accept", calls.message.head.headerFields[.accept] ?? "*/*")
  }

  private func versioned(_ request: Request<Content>) -> Request<Content> {
    request.field(Self.versionField, Self.version)
  }

  private static func isSameVersion(_ fields: HTTPFields) -> Bool {
    UploadField.text(versionField, in: fields) == version
  }

  /// The upload that a response announces.
  private static func ticket(_ fields: HTTPFields, relativeTo base: String?) -> UploadTicket? {
    guard let location = UploadField.text("Location", in: fields),
      let url = URLReference.complete(location, relativeTo: base)
    else { return nil }
    var ticket = UploadTicket(location: url)
    ticket.maximumPart = limit("max-append-size", in: fields)
    return ticket
  }

  private static func limit(_ key: String, in fields: HTTPFields) -> Int64? {
    guard let text = UploadField.text("Upload-Limit", in: fields), let members = DictionaryReader.integers(in: text)
    else { return nil }
    return members[key].flatMap { $0 >= 0 ? $0 : nil }
  }

  private static let versionField = "Upload-Draft-Interop-Version"
  private static let version = "8"
}
#endif
