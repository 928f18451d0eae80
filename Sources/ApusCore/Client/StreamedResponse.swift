public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An answer whose content is read while it arrives. It cannot leave the closure it is given to.
public struct StreamedResponse: ~Copyable {
  /// Status and fields.
  public let head: HTTPResponse
  private let content: ResponseContent
  private let call: Call

  init(head: HTTPResponse, content: ResponseContent, call: Call) {
    self.head = head
    // Content in memory, of a stored response or a stub, is read like content that arrives.
    self.content = content.arriving
    self.call = call
  }

  /// How many bytes the server announced, if it did.
  public var expectedLength: Int64? { content.expectedLength }

  /// The fields that came after the content: none before ``next()`` gave `nil`, see ``ResponseContent/trailers``.
  public var trailers: HTTPFields { content.trailers }

  /// The next piece of the content as it arrives, never empty; `nil` at the end.
  ///
  /// - Throws: ``CallError`` when the content breaks off, the call is cancelled or its deadline passes.
  public mutating func next() async throws(CallError) -> Data? {
    do {
      try call.checkCancellation()
      guard let piece = try await content.next() else {
        call.record(.contentArrived(length: call.entry.received.bytes))
        return nil
      }
      call.received(piece.count)
      return piece
    } catch {
      if let reason = call.cancellationReason { throw CallError(reason, of: call) }
      throw CallError(error, of: call)
    }
  }

  /// All that has not been read yet, in memory.
  ///
  /// - Parameter limit: the most bytes accepted. Default: the call's content limit.
  /// - Throws: ``CallError``, with the code `contentTooLarge` past the limit.
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
