public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response whose content (body) is read while it arrives. It cannot escape the closure that receives it.
public struct StreamedResponse: ~Copyable {
  /// The status and all fields (headers).
  public let head: HTTPResponse
  /// The version of HTTP over which the response came, or `nil` if the transport does not report it.
  public let protocolVersion: HTTPVersion?
  private let content: ResponseContent
  private let call: Call

  init(_ message: ResponseMessage, of call: Call) {
    head = message.head
    protocolVersion = message.protocolVersion
    // Content in memory, of a stored response or a stub, is read the same way.
    content = message.content.arriving
    self.call = call
  }

  /// The status.
  public var status: Int { head.status.code }

  /// Returns the value of a field (header) by its case-insensitive name. The values of several fields with that name
  /// are joined by commas (RFC 9110 §5.3).
  ///
  /// - Returns: the value, or `nil` if no field has the name or the name is not a token.
  public func field(_ name: String) -> String? { head.headerFields.value(of: name) }

  /// The URL that the response came from, after redirects, with its query; relative links in the response are relative
  /// to it. Do not log the URL, because it may contain secrets.
  public var url: String? { call.snapshot(\.message).map { $0.url } }

  /// The number of bytes that the server announced, or `nil`.
  public var expectedLength: Int64? { content.expectedLength }

  /// Whether the transport has decoded the content, see ``ResponseContent/isDecoded``.
  package var isDecoded: Bool { content.isDecoded }

  /// The trailer fields. Empty until ``next()`` has returned `nil`, see ``ResponseContent/trailers``.
  public var trailers: HTTPFields { content.trailers }

  /// Returns the next piece of the content, which is never empty, or `nil` at the end.
  ///
  /// - Throws: ``CallError`` when the connection is lost, the call is cancelled or its deadline passes.
  public mutating func next() async throws(CallError) -> Data? {
    try await call.nextPiece(of: content)
  }

  /// Returns all content that has not been read yet.
  ///
  /// - Parameter limit: the maximum number of bytes. Default: `nil`, the call's content limit.
  /// - Throws: ``CallError``, with the code `contentTooLarge` if the limit is exceeded.
  public mutating func collect(upTo limit: Int? = nil) async throws(CallError) -> Data {
    let limit = limit ?? call.contentLimit
    var all = Data()
    while let piece = try await next() {
      all.append(piece)
      guard all.count <= limit else { throw CallError(TransportError.contentTooLarge(limit: limit), of: call) }
    }
    return all
  }
}

extension Call {
  /// Returns the next piece of the arriving content of this call's response, or `nil` at the end.
  func nextPiece(of content: ResponseContent) async throws(CallError) -> Data? {
    do {
      try checkCancellation()
      guard let piece = try await content.next() else {
        record(.contentArrived(length: entry.received.bytes))
        return nil
      }
      received(piece.count)
      return piece
    } catch {
      if let reason = cancellationReason { throw CallError(reason, of: self) }
      throw CallError(error, of: self)
    }
  }
}
