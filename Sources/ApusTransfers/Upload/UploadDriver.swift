package import ApusCore
import HTTPTypes

/// A protocol in which content is sent to a server in several requests, so that an interrupted upload can continue.
///
/// The upload calls one function after the other, as its ``UploadState`` decides (`send` may run several
/// times at once): `create` once; `locate` whenever the
/// server's parts are not known; `send` for each missing part; `finish` when all parts are there. Each function makes
/// one or a few calls and returns what their responses mean. An error whose cause is temporary interrupts the upload,
/// which then goes on with `locate` after a delay.
package protocol UploadDriver: Sendable {
  /// The name of the protocol in records. A record of another protocol is not used.
  var name: String { get }
  /// Whether creating an upload twice does no harm, so that it is repeated if no response arrives.
  var repeatsCreation: Bool { get }
  /// Whether the upload starts over by itself if the server no longer knows it.
  var restartsWhenGone: Bool { get }
  /// Whether cancelling does nothing to an upload that is complete, so that one whose state is unknown can be cancelled.
  var cancelsOnlyIncomplete: Bool { get }
  /// The maximum number of parts that are sent at once. More than 1 only for numbered parts of one size, each of which
  /// may be sent again.
  var maximumParallelParts: Int { get }

  /// Creates the upload. The first parts may be sent with it.
  ///
  /// - Parameter note: receives the ticket as soon as it is known, if the call goes on after that.
  func create(
    _ calls: UploadCalls, note: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep

  /// Asks the server which parts it has.
  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep

  /// Sends a missing part.
  ///
  /// - Parameter part: the offsets of its bytes. Ends at the end of the content, or where the ticket's limits want it.
  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep

  /// Completes an upload whose parts are all on the server.
  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep

  /// Removes an incomplete upload from the server.
  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError)

  /// Whether an existing upload continues after a rejection with this status, besides the usual temporary ones.
  func isTemporary(_ status: Int) -> Bool

  /// Whether a rejection is the server's response to the complete content, so that the upload is over.
  func isFinal(_ error: CallError) -> Bool
}

extension UploadDriver {
  package var repeatsCreation: Bool { true }
  package var cancelsOnlyIncomplete: Bool { false }
  package var maximumParallelParts: Int { 1 }
  package func isTemporary(_ status: Int) -> Bool { false }
  package func isFinal(_ error: CallError) -> Bool { false }
}

/// What a response means for an upload.
package enum UploadStep: Sendable {
  /// The upload exists on the server, with these limits and these parts.
  case created(UploadTicket, StoredParts)
  /// The upload exists on the server with these limits, but its parts are not known: ask.
  case announced(UploadTicket)
  /// The server has these parts.
  case stored(StoredParts)
  /// The server has this part in addition to the known parts. Protocols with numbered parts need not ask after each one.
  case added(StoredParts.Part)
  /// The upload is complete. `nil`: the server says so, but its response to the last part was lost.
  case complete(Response<Content>?)
  /// The server's parts are not known: ask.
  case unsure
  /// The server does not know the upload.
  case gone
  /// The server contradicts the protocol.
  case fail(TransferError.Problem)
}

/// An upload on a server: its address and its limits. It is stored, so that another process can continue.
package struct UploadTicket: Hashable, Sendable, Codable {
  /// The complete URL of the upload, or its identifier where the protocol has one.
  package var location: String
  /// The maximum number of bytes of a part. `nil`: the rest of the content in one part.
  package var maximumPart: Int64?
  /// The size of all parts but the last. `nil`: parts may have any size.
  package var partSize: Int64?
  /// The time until which the server keeps the upload, in seconds since 1970. `nil`: unknown.
  package var expiration: Int64?
  /// Whether a response that came over https named the location, which is http. `nil`: no.
  private(set) var leavesHTTPS: Bool?

  package init(location: String) {
    self.location = location
  }

  /// Creates a ticket from the `Location` of a response, or `nil` if there is no usable one.
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
