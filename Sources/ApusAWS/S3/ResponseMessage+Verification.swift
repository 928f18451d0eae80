import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ResponseMessage {
  /// Returns the response with content (body) that is verified: reading its end throws if the content does not match
  /// the checksum that the server states. Content that a transport has decoded is not verified, because the checksum of
  /// an object with a content coding covers the coded content.
  ///
  /// - Throws: ``ApusCore/TransportError`` with the code `malformedResponse` if all content is in memory.
  func verified() throws -> ResponseMessage {
    guard head.status == .ok, !content.isDecoded, let stated = ChecksumAlgorithm.stated(in: head.headerFields) else {
      return self
    }
    var response = self
    if let bytes = content.bytes {
      var stream = Checksum(stated.algorithm)
      stream.update(bytes)
      guard stream.text == stated.value else { throw TransportError.wrongChecksum }
    } else {
      response.content = ResponseContent(
        source: VerifiedContent(content, stated.algorithm, stated.value), expectedLength: content.expectedLength)
    }
    return response
  }
}

extension TransportError {
  /// The error of content that does not match the server's checksum.
  static let wrongChecksum = TransportError(
    .malformedResponse, requestState: .responded,
    detail: "the content does not have the checksum that the server states")
}

/// Content whose checksum is compared when its end arrives.
private final class VerifiedContent: ContentSource {
  private let content: ResponseContent
  private let expected: String
  private let stream: Mutex<Checksum>

  init(_ content: ResponseContent, _ algorithm: ChecksumAlgorithm, _ expected: String) {
    (self.content, self.expected) = (content, expected)
    stream = Mutex(Checksum(algorithm))
  }

  var trailers: HTTPFields { content.trailers }

  func next() async throws -> Data? {
    if let piece = try await content.next() {
      stream.withLock { $0.update(piece) }
      return piece
    }
    guard stream.withLock({ $0.text }) == expected else { throw TransportError.wrongChecksum }
    return nil
  }

  func cancel() { content.discard() }
}
