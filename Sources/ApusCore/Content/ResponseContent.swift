public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The content of a response: complete in memory, or arriving piece by piece.
public struct ResponseContent: Sendable {
  enum Storage {
    case bytes(Data, trailers: HTTPFields)
    case arriving(ArrivingContent)
  }

  let storage: Storage
  /// Whether a transport has collected the bytes, and has told of the head and of each piece.
  let isCollected: Bool

  /// No content.
  public static let empty = ResponseContent(Data())

  /// Content that is complete, with the fields that came after it. Default: none.
  public init(_ data: Data, trailers: HTTPFields = [:]) {
    storage = .bytes(data, trailers: TrailerRules.allowed(trailers))
    isCollected = false
  }

  /// Content that a transport has collected for a call that wants it complete (``ContentDelivery/buffered``).
  ///
  /// Such a transport wakes its caller once, not at the head and at every piece. It has told the context of the
  /// head and of each piece as they arrived, and has kept the context's ``CallContext/contentLimit``.
  public init(collected data: Data, trailers: HTTPFields = [:]) {
    storage = .bytes(data, trailers: TrailerRules.allowed(trailers))
    isCollected = true
  }

  /// Content that a transport delivers piece by piece.
  ///
  /// - Parameters:
  ///   - source: delivers the pieces.
  ///   - expectedLength: bytes announced by the server, if it did.
  public init(source: any ContentSource, expectedLength: Int64? = nil) {
    storage = .arriving(ArrivingContent(source: source, expectedLength: expectedLength))
    isCollected = false
  }

  /// The bytes, when all of them are in memory.
  public var bytes: Data? {
    if case .bytes(let data, _) = storage { return data }
    return nil
  }

  /// How many bytes there are, or are announced to come; `nil` when that is unknown.
  public var expectedLength: Int64? {
    switch storage {
    case .bytes(let data, _): Int64(data.count)
    case .arriving(let content): content.expectedLength
    }
  }

  /// The fields that came after the content (RFC 9110 §6.5): none before all of it was read, none where it broke off
  /// or was given up, and none from transports that cannot see them.
  ///
  /// Fields that have to be known before the content is read or that decide about the exchange are left out (RFC 9110
  /// §6.5.1): framing, routing, credentials, cookies, caching, the content's own description.
  public var trailers: HTTPFields {
    switch storage {
    case .bytes(_, let trailers): trailers
    case .arriving(let content): content.trailers
    }
  }

  /// Has `action` run exactly once when the content is over: at once for content in memory.
  ///
  /// Permits, breakers and timings that middlewares hold for an exchange end here, not at the head.
  public func onEnd(_ action: @escaping @Sendable (ContentEnd) -> Void) {
    switch storage {
    case .bytes(let data, _): action(.finished(length: Int64(data.count)))
    case .arriving(let content): content.onEnd(action)
    }
  }

  /// The same content, to be read piece by piece; content in memory becomes one piece.
  var arriving: ResponseContent {
    guard case .bytes(let data, let trailers) = storage else { return self }
    return ResponseContent(source: MemorySource(data, trailers), expectedLength: Int64(data.count))
  }

  /// The next piece of arriving content; `nil` at the end, and for content in memory, see ``arriving``.
  func next() async throws -> Data? {
    switch storage {
    case .bytes: nil
    case .arriving(let content): try await content.next()
    }
  }

  /// All bytes, read to the end when they still arrive.
  ///
  /// - Parameters:
  ///   - limit: the most bytes accepted; one more is an error and gives the content up.
  ///   - onPiece: told the size of each piece as it arrives.
  /// - Throws: ``TransportError`` when the content breaks off or passes the limit; `CancellationError`.
  public func collect(upTo limit: Int, onPiece: @Sendable (Int) -> Void = { _ in }) async throws -> Data {
    if let data = try bytes(upTo: limit) {
      onPiece(data.count)
      return data
    }
    guard case .arriving(let content) = storage else { return Data() }
    return try await content.collect(upTo: limit, onPiece: onPiece)
  }

  /// The bytes, when all of them are in memory.
  ///
  /// - Throws: ``TransportError`` when they pass the limit.
  func bytes(upTo limit: Int) throws -> Data? {
    guard let bytes else { return nil }
    guard bytes.count <= limit else { throw TransportError.contentTooLarge(limit: limit) }
    return bytes
  }

  /// At most `count` bytes from the start; the rest is given up. `onPiece` is told the size of each piece that arrives.
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

  /// Gives the rest of the content up.
  public func discard() {
    if case .arriving(let content) = storage { content.discard() }
  }

  /// A closure that gives the rest of the content up with an error, which its reader gets in place of the next piece.
  ///
  /// For middlewares that learn later that nobody may read on. The closure does not keep the content: one that nobody
  /// reads any more is given up as ever. It does nothing once the content is over, nor for content in memory.
  public var interrupter: @Sendable (any Error) -> Void {
    guard case .arriving(let content) = storage else { return { _ in } }
    return { [weak content] error in content?.discard(throwing: error) }
  }
}

/// How a response's content ended.
public enum ContentEnd: Sendable {
  /// All of it arrived: so many bytes.
  case finished(length: Int64)
  /// It broke off.
  case failed(any Error)
  /// Nobody wanted the rest.
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

/// Which fields may follow the content.
enum TrailerRules {
  /// Fields that are needed before the content can be read, or that decide about the exchange: framing, routing,
  /// authentication, control and content's own description (RFC 9110 §6.5.1). A trailer cannot change any of it any
  /// more, so these are dropped.
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
