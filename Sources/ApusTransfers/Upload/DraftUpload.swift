import ApusCore
import HTTPTypes
import Synchronization

/// The protocol of the IETF draft "Resumable Uploads for HTTP", interop version 8
/// (draft-ietf-httpbis-resumable-upload).
struct DraftUpload: UploadDriver {
  /// Whether a first request creates the upload without content. If `false`, the first request contains all content.
  let createsFirst: Bool
  /// The algorithm of the digests of the content and of each part. `nil`: no digests are sent.
  var digest: FileDigest.Algorithm?

  let name = "ietf"
  /// `false`: the server may have processed complete content, lost the response, and then removed the upload.
  let restartsWhenGone = false
  /// Whether creation is repeated: only an upload without content has no effect yet.
  var repeatsCreation: Bool { createsFirst }

  func create(
    _ calls: UploadCalls, announce: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    var fields = [("Upload-Complete", !createsFirst || calls.length == 0 ? "?1" : "?0")]
    if let digest {
      let member = try await calls.digest(of: calls.source.content, digest).member
      fields.append(("Repr-Digest", member))
      if !createsFirst { fields.append(("Content-Digest", member)) }
    }
    guard createsFirst else {
      return try await createWithContent(described(calls.request, calls, fields), calls, announce: announce)
    }
    return try await createWithoutContent(described(calls.withoutContent(), calls, fields), calls)
  }

  /// Sends all content with the first request. A server that supports resumption announces the upload in an interim
  /// response.
  private func createWithContent(
    _ request: Request<Content>, _ calls: UploadCalls, announce: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    let known = Mutex<UploadTicket?>(nil)
    let base = calls.message.url
    let request = request.setting(InterimResponses.self) { head in
      // Only servers that implement this version of the draft state the version (the draft's appendix on versions).
      guard head.status.code == 104, UploadField.text(Self.versionField, in: head.headerFields) == Self.version,
        let ticket = ticket(head.headerFields, relativeTo: base)
      else { return }
      let isNew = known.withLock { known in
        defer { known = ticket }
        return known == nil
      }
      if isNew { announce(ticket) }
    }
    do throws(CallError) {
      let response = try await calls.send(request, reportingFrom: 0)
      // The request contained all content, so a success is the endpoint's response, unless it states that the upload is
      // incomplete.
      guard UploadField.flag("Upload-Complete", in: response.fields) == false else { return .complete(response) }
      guard let announced = ticket(response.fields, relativeTo: response.url) ?? known.withLock({ $0 }) else {
        return .fail(.noLocation)
      }
      try await calls.check(announced)
      return .announced(announced)
    } catch {
      // A success that arrived before all content was sent may announce the upload.
      if error.isIncompleteRequest, known.withLock({ $0 }) == nil,
        let ticket = ticket(error.head?.headerFields ?? [:], relativeTo: base)
      {
        announce(ticket)
      }
      guard error.status == 413, !isFinal(error), let ticket = known.withLock({ $0 }) else { throw error }
      guard let step = step(afterTooLarge: error, calls.length, ticket, calls) else { throw error }
      return step
    }
  }

  private func createWithoutContent(
    _ request: Request<Content>, _ calls: UploadCalls
  ) async throws(CallError) -> UploadStep {
    let response = try await calls.send(request)
    if calls.length == 0 { return .complete(response) }
    guard let ticket = ticket(response.fields, relativeTo: response.url) else { return .fail(.noLocation) }
    if let reason = UploadLimits(response.fields).refusal(of: calls.length) { return .fail(reason) }
    try await calls.check(ticket)
    return .created(ticket, StoredParts())
  }

  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    do throws(CallError) {
      let fields = try await calls.send(versioned(calls.request(.head, to: ticket))).fields
      if UploadField.flag("Upload-Complete", in: fields) == true { return .complete(nil) }
      guard let offset = UploadField.number("Upload-Offset", in: fields),
        UploadField.number("Upload-Length", in: fields) ?? calls.length == calls.length
      else { return .fail(.unusableOffset) }
      if let reason = UploadLimits(fields).refusal(of: calls.length) { return .fail(reason) }
      return stored(upTo: offset, ticket, fields)
    } catch {
      if error.status == 404 || error.status == 410 { return .gone }
      throw error
    }
  }

  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let isLast = part.upperBound == calls.length
    var request = versioned(calls.request(.patch, to: ticket, part: part, as: "application/partial-upload"))
      .field("Upload-Offset", String(part.lowerBound)).field("Upload-Complete", isLast ? "?1" : "?0")
    if isLast { request = request.field("Accept", calls.message.head.headerFields[.accept] ?? "*/*") }
    if let digest, !part.isEmpty {
      request = request.field("Content-Digest", try await calls.digest(of: calls.source.part(part), digest).member)
    }
    do throws(CallError) {
      let response = try await calls.send(request, reportingFrom: part.lowerBound)
      if UploadField.flag("Upload-Complete", in: response.fields) == true { return .complete(response) }
      // The server has appended the bytes, but the upload is incomplete even after the last part: request the offset.
      guard !isLast else { return try await confirm(response, ticket, calls) }
      let offset = UploadField.number("Upload-Offset", in: response.fields) ?? part.upperBound
      guard offset <= part.upperBound else { return .fail(.unusableOffset) }
      return stored(upTo: offset, ticket, response.fields)
    } catch {
      if isFinal(error) { throw error }
      if error.status == 413, let step = step(afterTooLarge: error, Int64(part.count), ticket, calls) { return step }
      if error.status == 409 { return .unsure }
      if error.status == 404 || error.status == 410 { return .gone }
      throw error
    }
  }

  /// Determines the result after a server accepted the last part without stating whether the upload is complete.
  private func confirm(
    _ response: Response<Content>, _ ticket: UploadTicket, _ calls: UploadCalls
  ) async throws(CallError) -> UploadStep {
    // The response states that the upload is incomplete.
    if UploadField.flag("Upload-Complete", in: response.fields) == false { return .unsure }
    switch try await locate(ticket, calls) {
    // A server may remove an upload as soon as it is complete.
    case .complete, .gone: return .complete(response)
    case let step: return step
    }
  }

  /// Completes an upload: the server has all bytes, but no request has yet stated that the upload is complete.
  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep
  {
    try await send(calls.length..<calls.length, of: ticket, calls)
  }

  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) {
    _ = try await calls.send(versioned(calls.request(.delete, to: ticket)))
  }

  func isFinal(_ error: CallError) -> Bool {
    guard error.code == .rejected, let fields = error.head?.headerFields else { return false }
    return UploadField.flag("Upload-Complete", in: fields) == true
  }

  /// Returns `true` for 5xx statuses, because a 5xx status that is not final does not describe the upload's state.
  func isTemporary(_ status: Int) -> Bool { (500..<600).contains(status) }

  // MARK: Requests

  private func described(
    _ request: Request<Content>, _ calls: UploadCalls, _ fields: [(name: String, value: String)]
  ) -> Request<Content> {
    var request = versioned(request).field("Upload-Length", String(calls.length))
    for field in fields { request = request.field(field.name, field.value) }
    // The fields that describe the content are sent even if the content follows later.
    for name in [HTTPField.Name.contentType, .contentEncoding] {
      if let value = calls.message.head.headerFields[name] { request = request.field(name.rawName, value) }
    }
    return request.field("Accept", calls.message.head.headerFields[.accept] ?? "*/*")
  }

  private func versioned(_ request: Request<Content>) -> Request<Content> {
    request.field(Self.versionField, Self.version)
  }

  // MARK: Responses

  /// Returns the upload that a response announces.
  private func ticket(_ fields: HTTPFields, relativeTo base: String?) -> UploadTicket? {
    UploadTicket(in: fields, relativeTo: base).map { limited($0, fields) }
  }

  private func limited(_ ticket: UploadTicket, _ fields: HTTPFields) -> UploadTicket {
    UploadLimits(fields).applied(to: ticket, preferring: digest == nil ? nil : Self.digestedPart)
  }

  /// Records that the server has the bytes before an offset. The response may state new limits.
  private func stored(upTo offset: Int64, _ ticket: UploadTicket, _ fields: HTTPFields) -> UploadStep {
    let (parts, limited) = (StoredParts(upTo: offset), limited(ticket, fields))
    return limited == ticket ? .stored(parts) : .created(limited, parts)
  }

  /// Returns the step after the server rejected content for its size, or `nil` if smaller parts would not help.
  private func step(
    afterTooLarge error: CallError, _ size: Int64, _ ticket: UploadTicket, _ calls: UploadCalls
  ) -> UploadStep? {
    let fields = error.head?.headerFields ?? [:]
    if let reason = UploadLimits(fields).refusal(of: calls.length) { return .fail(reason) }
    let ticket = limited(ticket, fields)
    return ticket.maximumPart.map { $0 < size } == true ? .announced(ticket) : nil
  }

  /// The size of parts with a digest. The size is small, because each part is read twice: for its digest, and soon
  /// afterwards to be sent.
  private static let digestedPart: Int64 = 8 << 20
  private static let versionField = "Upload-Draft-Interop-Version"
  private static let version = "8"
}
