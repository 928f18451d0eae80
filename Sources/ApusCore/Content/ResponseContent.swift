public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content (body) of a response: complete in memory, or still arriving.
public struct ResponseContent: Sendable {
  enum Storage {
    case bytes(Data, trailers: HTTPFields)
    case arriving(ArrivingContent)
  }

  let storage: Storage
  /// Whether the transport collected the bytes and reported the head and each piece itself.
  let isCollected: Bool
  /// Whether the transport has decoded the content, so that checksums of the coded representation do not cover it.
  package var isDecoded = false

  /// No content.
  public static let empty = ResponseContent(Data())

  /// Creates complete content with its trailer fields. Default: none.
  public init(_ data: Data, trailers: HTTPFields = [:]) {
    storage = .bytes(data, trailers: TrailerRules.allowed(trailers))
    isCollected = false
  }

  /// Creates content that a transport has collected for a call with buffered delivery (``ContentDelivery/buffered``).
  ///
  /// Such a transport resumes the call once instead of at the head and at every piece. It must have reported the head
  /// and each piece to the context and enforced ``ExchangeContext/contentLimit``.
  package init(collected data: Data, trailers: HTTPFields = [:]) {
    storage = .bytes(data, trailers: TrailerRules.allowed(trailers))
    isCollected = true
  }

  /// Creates content that a transport delivers piece by piece.
  ///
  /// - Parameters:
  ///   - source: the source of the pieces.
  ///   - expectedLength: the number of bytes that the server announced, if any. Default: `nil`.
  public init(source: any ContentSource, expectedLength: Int64? = nil) {
    storage = .arriving(ArrivingContent(source: source, expectedLength: expectedLength))
    isCollected = false
  }

  /// The bytes if all of them are in memory, else `nil`.
  public var bytes: Data? {
    if case .bytes(let data, _) = storage { return data }
    return nil
  }

  /// The number of bytes, or the number that the server announced. `nil` if it is unknown.
  public var expectedLength: Int64? {
    switch storage {
    case .bytes(let data, _): Int64(data.count)
    case .arriving(let content): content.expectedLength
    }
  }

  /// The trailer fields (RFC 9110 §6.5).
  ///
  /// Empty until all content was read, if the content was cut short or discarded, and with transports that do not
  /// receive trailers. Fields for framing, routing, credentials, cookies, caching and the description of the content
  /// are omitted, because they are not allowed in trailers (RFC 9110 §6.5.1).
  public var trailers: HTTPFields {
    switch storage {
    case .bytes(_, let trailers): trailers
    case .arriving(let content): content.trailers
    }
  }

  /// Runs `action` exactly once when the content ends, which is immediately for content in memory.
  ///
  /// Middlewares release permits, report to circuit breakers and stop timers here rather than at the response head.
  public func onEnd(_ action: @escaping @Sendable (ContentEnd) -> Void) {
    switch storage {
    case .bytes(let data, _): action(.finished(length: Int64(data.count)))
    case .arriving(let content): content.onEnd(action)
    }
  }

  /// The same content as arriving content. Content in memory becomes one piece.
  var arriving: ResponseContent {
    guard case .bytes(let data, let trailers) = storage else { return self }
    var content = ResponseContent(source: MemorySource(data, trailers), expectedLength: Int64(data.count))
    content.isDecoded = isDecoded
    return content
  }

  /// Returns the next piece of arriving content, or `nil` at the end. Content in memory has no pieces, see
  /// ``arriving``.
  package func next() async throws -> Data? {
    switch storage {
    case .bytes: nil
    case .arriving(let content): try await content.next()
    }
  }

  /// Reads the content to its end and returns all bytes.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of bytes. Larger content is discarded.
  ///   - onPiece: called with the size of each piece in bytes as it arrives.
  /// - Throws: ``TransportError`` if the content is cut short or exceeds the limit. `CancellationError` if the task is
  ///   cancelled or the content was discarded.
  public func collect(upTo limit: Int, onPiece: @Sendable (Int) -> Void = { _ in }) async throws -> Data {
    if let data = try bytes(upTo: limit) {
      onPiece(data.count)
      return data
    }
    guard case .arriving(let content) = storage else { return Data() }
    return try await content.collect(upTo: limit, onPiece: onPiece)
  }

  /// Returns the bytes if all of them are in memory.
  ///
  /// - Throws: ``TransportError`` if they exceed the limit.
  func bytes(upTo limit: Int) throws -> Data? {
    guard let bytes else { return nil }
    guard bytes.count <= limit else { throw TransportError.contentTooLarge(limit: limit) }
    return bytes
  }

  /// Returns at most the first `count` bytes and discards the rest. Calls `onPiece` with the size of each arriving
  /// piece.
  func prefix(_ count: Int, onPiece: @Sendable (Int) -> Void = { _ in }) async throws -> Data {
    switch storage {
    case .bytes(let data, _): return data.prefix(count)
    case .arriving(let content):
      var all = Data()
      while all.count < count, let piece = try await content.next() {
        onPiece(piece.count)
        all.append(piece)
      }
      content.discard()
      return all.prefix(count)
    }
  }

  /// Discards the rest of the content: the exchange is drained or closed.
  public func discard() {
    if case .arriving(let content) = storage { content.discard() }
  }

  /// A closure that discards the rest of the content and throws an error to its reader.
  ///
  /// For middlewares that end a response later, for example at a deadline. The closure references the content weakly.
  /// It does nothing after the end of the content and for content in memory.
  package var discardAction: @Sendable (any Error) -> Void {
    guard case .arriving(let content) = storage else { return { _ in } }
    return { [weak content] error in content?.discard(throwing: error) }
  }
}

/// The outcome of a response's content.
public enum ContentEnd: Sendable {
  /// All content arrived. The value is its length in bytes.
  case finished(length: Int64)
  /// The content was cut short.
  case failed(any Error)
  /// The rest was discarded.
  case discarded
}

extension ResponseContent: Cancellable {
  func cancel() { discard() }
}

/// Content in memory as a source of one piece.
private final class MemorySource: ContentSource {
  private let data: Mutex<Data?>
  let trailers: HTTPFields

  init(_ data: Data, _ trailers: HTTPFields) {
    self.trailers = trailers
    self.data = Mutex(data.isEmpty ? nil : data)
  }

  func next() async throws -> Data? {
    data.withLock { data in
      defer { data = nil }
      return data
    }
  }

  func cancel() {
    data.withLock { $0 = nil }
  }
}

/// The fields that are allowed in trailers.
enum TrailerRules {
  /// Fields for framing, routing, authentication, control and the description of the content (RFC 9110 §6.5.1), which
  /// must be known before the content is read.
  private static let forbidden: Set<String> = [
    "age", "authentication-info", "authorization", "cache-control", "connection", "content-encoding",
    "content-length",
    "content-location", "content-range", "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive",
    "location", "max-forwards", "pragma", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "range", "retry-after", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary",
    "warning", "www-authenticate",
  ]

  static func allowed(_ trailers: HTTPFields) -> HTTPFields {
    guard !trailers.isEmpty else { return trailers }
    var allowed = HTTPFields()
    for field in trailers where !forbidden.contains(field.name.canonicalName) { allowed.append(field) }
    return allowed
  }
}
