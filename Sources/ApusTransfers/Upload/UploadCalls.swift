package import ApusCore
package import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The calls of an upload: requests with the settings of the endpoint, sent to the endpoint itself or to the upload's
/// URL.
package struct UploadCalls: Sendable {
  package let client: Client
  /// The endpoint's request.
  package let request: Request<Content>
  /// The message that the endpoint's request describes.
  package let message: RequestMessage
  package let source: UploadSource
  /// Reports that the content before an offset was sent.
  let report: @Sendable (_ offset: Int64) -> Void

  /// Returns the calls with another receiver of their progress.
  func reporting(to report: @escaping @Sendable (_ offset: Int64) -> Void) -> UploadCalls {
    UploadCalls(client: client, request: request, message: message, source: source, report: report)
  }

  /// The number of bytes to upload.
  package var length: Int64 { source.length }

  /// Returns the endpoint's request without content (body).
  package func withoutContent() -> Request<Content> {
    var request = request.content(RequestContent(nil) { _ in .bytes(Data()) })
    request.fields.removeAll { $0.name.lowercased() == "content-digest" }
    return request
  }

  /// Returns a request to the URL of the upload.
  ///
  /// The endpoint's own fields (headers) are sent too if the URL has the endpoint's origin, because the server may
  /// require them on every request. The client adds credentials only for their own origins.
  ///
  /// If the URL is http and the endpoint is https, the call fails with `malformedResponse`, unless the endpoint's
  /// redirect policy permits it.
  ///
  /// - Parameters:
  ///   - location: the URL of the upload.
  ///   - part: the offsets of the bytes to send. Default: `nil`, no content.
  ///   - mediaType: the media type of the content.
  package func request(
    _ method: HTTPRequest.Method, to location: String, part: Range<Int64>? = nil, as mediaType: MediaType = .bytes
  ) -> Request<Content> {
    let content: RequestContent =
      part.map { [source] part in
        RequestContent(mediaType) { _ in part.isEmpty ? .bytes(Data()) : source.part(part) }
      } ?? .empty
    // Checked for a stored upload, too: its URL comes from a response to the endpoint's request.
    let path = RequestPath.url(location).named(by: message.origin)
    var request = Request<Content>(method: method, path: path, content: content, mapping: .content)
    request.options = self.request.options
    if URLReference.origin(of: location) == message.origin {
      request.fields = self.request.fields.filter { !Self.describesContent($0) }
    }
    return request
  }

  /// Returns a request to the URL of an upload, with the same rules as for a location.
  func request(
    _ method: HTTPRequest.Method, to ticket: UploadTicket, part: Range<Int64>? = nil, as mediaType: MediaType = .bytes
  ) -> Request<Content> {
    var request = self.request(method, to: ticket.location, part: part, as: mediaType)
    // The endpoint may be http, and a redirect may have led from it to https.
    if ticket.leavesHTTPS == true { request.path = request.path.named(by: Self.secureOrigin) }
    return request
  }

  private static let secureOrigin = Origin(scheme: "https", host: "", port: 443)

  /// Throws if no request may be sent to the URL of the upload. Sends no request.
  ///
  /// Such an upload must not be stored: it could not continue, and would prevent the creation of the next upload.
  func check(_ ticket: UploadTicket) async throws(CallError) {
    let request = self.request(.head, to: ticket)
    guard request.path.leavesHTTPS else { return }
    _ = try await client.message(for: request)
  }

  /// Sends a request and reports the progress of its content.
  ///
  /// - Parameter offset: the offset of the request's content within the upload's content.
  package func send(
    _ request: Request<Content>, reportingFrom offset: Int64? = nil
  ) async throws(CallError) -> Response<Content> {
    var request = request
    if let offset {
      let progress = ProgressReporter()
      progress.observe { [report] in report(offset + $0.completed) }
      request.options.uploadProgress = progress
    }
    return try await client.response(to: request)
  }

  /// Computes the digest of content by reading it.
  func digest(of content: MessageContent, _ algorithm: FileDigest.Algorithm) async throws(CallError) -> FileDigest {
    do {
      let pieces = try await content.makePieces()
      let stream = DigestStream([algorithm])
      while let piece = try await pieces() { piece.withUnsafeBytes { stream.update($0) } }
      guard let digest = stream.digests.first else { throw TransferError(.invalidDigest) }
      return digest
    } catch {
      let cause = error as? TransferError ?? TransferError(.contentChanged, underlying: error)
      throw client.failure(cause.code ?? .encoding, of: request, cause)
    }
  }

  /// Whether a field belongs to the content of the first request and not to its parts.
  private static func describesContent(_ field: RawField) -> Bool {
    let name = field.name.lowercased()
    return name.hasPrefix("content-") || name == "repr-digest" || name == "expect" || name == "accept"
      || name == "idempotency-key"
  }
}

extension URLReference {
  /// Returns the origin of a complete URL, or `nil` if the text is not a complete URL.
  static func origin(of text: String) -> Origin? {
    (try? URLReference(text.utf8, relativeTo: nil))?.origin
  }
}
