import ApusCore
import Crypto
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The protocol tus 1.0.0, with its extensions creation, expiration, checksum and termination.
struct TusUpload: UploadDriver {
  /// The metadata of the upload by key. `nil`: the name and the media type of the file.
  var metadata: [String: String]?
  /// The algorithm of the checksum of each part. `nil`: no checksum is sent.
  var checksum: UploadProtocol.Checksum?

  let name = "tus"
  let restartsWhenGone = true

  func create(
    _ calls: UploadCalls, announce: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    var request = calls.withoutContent().field("Tus-Resumable", Self.version)
      .field("Upload-Length", String(calls.length))
    let metadata = try encodedMetadata(calls)
    if !metadata.isEmpty { request = request.field("Upload-Metadata", metadata) }
    let response = try await calls.send(request)
    guard var ticket = UploadTicket(in: response.fields, relativeTo: response.url) else { return .fail(.noLocation) }
    try await calls.check(ticket)
    ticket.expiration = expiration(response.fields)
    // Parts are small, because each part is read twice: for its checksum, and soon afterwards to be sent.
    if checksum != nil { ticket.maximumPart = Self.checkedPart }
    return .created(ticket, StoredParts())
  }

  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let request = calls.request(.head, to: ticket).field("Tus-Resumable", Self.version)
      .field("Cache-Control", "no-store")
    do throws(CallError) {
      let fields = try await calls.send(request).fields
      guard let offset = UploadField.number("Upload-Offset", in: fields),
        UploadField.number("Upload-Length", in: fields) ?? calls.length == calls.length
      else { return .fail(.unusableOffset) }
      return offset == calls.length ? .complete(nil) : stored(upTo: offset, ticket, fields)
    } catch {
      if Self.isGone(error) || error.status == 403 { return .gone }
      throw error
    }
  }

  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    var request = calls.request(.patch, to: ticket, part: part, as: "application/offset+octet-stream")
      .field("Tus-Resumable", Self.version).field("Upload-Offset", String(part.lowerBound))
    if let checksum {
      let digest = try await checksum.digest(of: calls.source.part(part), for: calls)
      request = request.field("Upload-Checksum", "\(checksum.name) \(digest)")
    }
    do throws(CallError) {
      let response = try await calls.send(request, reportingFrom: part.lowerBound)
      guard let offset = UploadField.number("Upload-Offset", in: response.fields), offset >= part.lowerBound,
        offset <= part.upperBound
      else { return .fail(.unusableOffset) }
      return offset == calls.length ? .complete(response) : stored(upTo: offset, ticket, response.fields)
    } catch {
      // 409: the server has another offset. 460: the checksum differs, and the server has discarded the part.
      if error.status == 409 || error.status == 460 { return .unsure }
      if Self.isGone(error) { return .gone }
      throw error
    }
  }

  /// Returns a complete upload. Called only for content of zero bytes, whose upload is complete as soon as it exists.
  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep
  {
    .complete(nil)
  }

  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) {
    _ = try await calls.send(calls.request(.delete, to: ticket).field("Tus-Resumable", Self.version))
  }

  /// Records that the server has the bytes before an offset. The response may extend the upload's lifetime.
  private func stored(upTo offset: Int64, _ ticket: UploadTicket, _ fields: HTTPFields) -> UploadStep {
    var current = ticket
    current.expiration = expiration(fields) ?? ticket.expiration
    let parts = StoredParts(upTo: offset)
    return current == ticket ? .stored(parts) : .created(current, parts)
  }

  private static func isGone(_ error: CallError) -> Bool { error.status == 404 || error.status == 410 }

  private func expiration(_ fields: HTTPFields) -> Int64? {
    UploadField.text("Upload-Expires", in: fields).flatMap { HTTPDate.parse($0) }
  }

  /// Returns the metadata in the syntax of their field: keys, and values in Base64.
  private func encodedMetadata(_ calls: UploadCalls) throws(CallError) -> String {
    let pairs = (metadata ?? defaultMetadata(calls)).sorted { $0.key < $1.key }
    let isValid = pairs.allSatisfy { key, _ in
      !key.isEmpty && key.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }
    guard isValid else {
      throw calls.client.failure(.invalidRequest, of: calls.request, TransferError(.invalidMetadata))
    }
    return pairs.map { key, value in
      value.isEmpty ? key : "\(key) \(Data(value.utf8).base64EncodedString())"
    }.joined(separator: ",")
  }

  private func defaultMetadata(_ calls: UploadCalls) -> [String: String] {
    var metadata: [String: String] = [:]
    if case .file(let file) = calls.source.content { metadata["filename"] = URL(filePath: file.path).lastPathComponent }
    if let type = calls.message.head.headerFields[.contentType] { metadata["filetype"] = type }
    return metadata
  }

  private static let version = "1.0.0"
  private static let checkedPart: Int64 = 8 << 20
}

extension UploadProtocol.Checksum {
  /// The name of the algorithm in `Upload-Checksum`.
  fileprivate var name: String { self == .sha1 ? "sha1" : "sha256" }

  /// Computes the Base64 digest of content.
  fileprivate func digest(of content: MessageContent, for calls: UploadCalls) async throws(CallError) -> String {
    do {
      let pieces = try await content.makePieces()
      switch self {
      case .sha1: return try await digest(of: pieces, Insecure.SHA1())
      case .sha256: return try await digest(of: pieces, SHA256())
      }
    } catch {
      let cause = error as? TransferError ?? TransferError(.contentChanged, underlying: error)
      throw calls.client.failure(cause.code ?? .encoding, of: calls.request, cause)
    }
  }

  private func digest(
    of pieces: ContentStream.Pieces, _ function: some HashFunction
  ) async throws -> String {
    var function = function
    while let piece = try await pieces() { function.update(data: piece) }
    return Data(function.finalize()).base64EncodedString()
  }
}
