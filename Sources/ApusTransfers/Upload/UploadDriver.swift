package import ApusCore
import HTTPTypes

/// A protocol in which content is sent to a server in several requests, so that an interrupted upload can continue.
///
/// The upload calls one function after the other, as its ``UploadState`` decides: `create` once; `locate` whenever the
/// server's parts are not known; `send` for each missing part, possibly several concurrently; `finish` when the server
/// has all parts. Each function makes one or a few calls and returns the meaning of their responses. An error whose
/// cause is temporary interrupts the upload, which then continues with `locate` after a delay.
package protocol UploadDriver: Sendable {
  /// The name of the protocol in records. A record of another protocol is ignored.
  var name: String { get }
  /// Whether creating an upload twice is harmless, so that creation is repeated if no response arrives.
  var repeatsCreation: Bool { get }
  /// Whether the upload starts over by itself if the server no longer has it.
  var restartsWhenGone: Bool { get }
  /// Whether cancelling has no effect on a complete upload, so that an upload in an unknown state can be cancelled.
  var cancelsOnlyIncomplete: Bool { get }
  /// The maximum number of parts that are sent concurrently. A number above 1 is only for numbered parts of one size,
  /// each of which may be resent.
  var maximumParallelParts: Int { get }

  /// Creates the upload. The first parts may be sent with it.
  ///
  /// - Parameter announce: receives the ticket as soon as it is known, if the call continues after that.
  func create(
    _ calls: UploadCalls, announce: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep

  /// Requests the list of parts that the server has.
  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep

  /// Sends a missing part.
  ///
  /// - Parameter part: the offsets of the part's bytes. The part ends at the end of the content, or at the limit that
  ///   the ticket states.
  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep

  /// Completes an upload whose parts are all on the server.
  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep

  /// Removes an incomplete upload from the server.
  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError)

  /// Whether an existing upload continues after a rejection with this status, in addition to the usual temporary
  /// statuses.
  func isTemporary(_ status: Int) -> Bool

  /// Whether a rejection is the server's response to the complete content, so that the upload has ended.
  func isFinal(_ error: CallError) -> Bool
}

extension UploadDriver {
  package var repeatsCreation: Bool { true }
  package var cancelsOnlyIncomplete: Bool { false }
  package var maximumParallelParts: Int { 1 }
  package func isTemporary(_ status: Int) -> Bool { false }
  package func isFinal(_ error: CallError) -> Bool { false }
}

/// The meaning of a response for an upload.
package enum UploadStep: Sendable {
  /// The upload exists on the server, with these limits and these parts.
  case created(UploadTicket, StoredParts)
  /// The upload exists on the server with these limits, but its parts are not known and must be requested.
  case announced(UploadTicket)
  /// The server has these parts.
  case stored(StoredParts)
  /// The server has this part in addition to the known parts. Protocols with numbered parts need no request after each
  /// part.
  case added(StoredParts.Part)
  /// The upload is complete. `nil`: the server states this, but its response to the last part was lost.
  case complete(Response<Content>?)
  /// The server's parts are not known and must be requested.
  case unsure
  /// The server does not know the upload.
  case gone
  /// The server contradicts the protocol.
  case fail(TransferError.Problem)
}

/// An upload on a server: its address and its limits. The ticket is stored, so that another process can continue the
/// upload.
package struct UploadTicket: Hashable, Sendable, Codable {
  /// The complete URL of the upload, or the upload's identifier in protocols that have identifiers.
  package var location: String
  /// The maximum number of bytes of a part. `nil`: the rest of the content is one part.
  package var maximumPart: Int64?
  /// The size of all parts but the last. `nil`: parts may have any size.
  package var partSize: Int64?
  /// The time until which the server keeps the upload, in seconds since 1970. `nil`: unknown.
  package var expiration: Int64?
  /// Whether an https response stated the location although its scheme is http. `nil`: `false`.
  private(set) var leavesHTTPS: Bool?

  package init(location: String) {
    self.location = location
  }

  /// Creates a ticket from the `Location` of a response. Returns `nil` if the field is missing or unusable.
  ///
  /// - Parameter base: the URL of the response.
  init?(in fields: HTTPFields, relativeTo base: String?) {
    let base = base.flatMap { try? URLReference($0.utf8, relativeTo: nil) }
    guard let url = try? URLReference.location(in: fields, relativeTo: base.map { ($0.origin, $0.target) }) else {
      return nil
    }
    self.init(location: "\(url.origin)\(url.target)")
    if let base, url.origin.isDowngrade(from: base.origin) { leavesHTTPS = true }
  }

  /// Returns the part to send from the start of a gap.
  func part(of gap: Range<Int64>) -> Range<Int64> {
    let size = partSize ?? maximumPart.map { max($0, 1) } ?? Int64(gap.count)
    return gap.lowerBound..<min(gap.upperBound, gap.lowerBound + min(size, Int64(gap.count)))
  }
}
