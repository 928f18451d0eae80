import ApusCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Request content as a session sends it.
enum OutgoingContent: Sendable {
  case none
  case bytes(Data)
  case file(URL, length: Int64)
  case stream(any OutgoingStream)

  /// Converts the content of a message.
  ///
  /// - Throws: `TransportError` if the content cannot be produced; `CancellationError`.
  init(_ content: MessageContent, in context: ExchangeContext) async throws {
    switch content {
    case .bytes(let data) where !data.isEmpty: self = .bytes(data)
    case .file(let file) where file.length > 0: self = .file(try Self.url(of: file), length: file.length)
    case .stream(let stream): self = .stream(try await Self.outgoing(stream, in: context))
    case .joined: self = .stream(try await Self.outgoing(try content.asStream(), in: context))
    default: self = .none
    }
  }

  private static func outgoing(
    _ stream: ContentStream, in context: ExchangeContext
  ) async throws -> any OutgoingStream {
    #if canImport(Security)
    PieceMaker(stream)
    #else
    try await Spool.fill(from: stream, in: context)
    #endif
  }

  /// Returns the URL of a file after checking that it exists and has the same length. A session reports both faults
  /// only as a broken connection.
  static func url(of file: ContentFile) throws -> URL {
    let found: ContentFile
    do {
      found = try ContentFile(path: file.path)
    } catch {
      throw failure("the file to send cannot be read", error)
    }
    guard found.length == file.length else { throw failure("the content is longer or shorter than announced") }
    return URL(fileURLWithPath: file.path)
  }

  static func failure(_ detail: String, _ cause: (any Error)? = nil) -> TransportError {
    TransportError(.connectionLost, requestState: .notSent, detail: detail, underlying: cause).attributed(to: .content)
  }

  /// Creates a suspended task.
  func task(for request: URLRequest, in session: URLSession) throws -> URLSessionTask {
    switch self {
    case .none: return session.dataTask(with: request)
    case .bytes(let data): return session.uploadTask(with: request, from: data)
    case .file(let url, _): return session.uploadTask(with: request, fromFile: url)
    case .stream(let stream): return try stream.task(for: request, in: session)
    }
  }

  /// Returns whether all content is sent once the session has sent `count` bytes.
  func isSent(_ count: Int64) -> Bool {
    switch self {
    case .none: true
    case .bytes(let data): count >= data.count
    case .file(_, let length): count >= length
    case .stream(let stream): stream.isSent(count)
    }
  }

  /// The stream that the session reads; `nil` if the content is not a stream.
  var stream: (any OutgoingStream)? {
    if case .stream(let stream) = self { return stream }
    return nil
  }
}

/// Streamed content as a session sends it.
protocol OutgoingStream: Sendable {
  /// Creates a suspended task that sends the content. Called once.
  func task(for request: URLRequest, in session: URLSession) throws -> URLSessionTask
  /// Starts to produce content. `onFailure` is called if the content cannot be completed.
  func start(in context: ExchangeContext, onFailure: @escaping @Sendable (any Error) -> Void)
  /// Stops producing content.
  func stop()
  /// Returns whether all content is sent once the session has sent `count` bytes.
  func isSent(_ count: Int64) -> Bool
}

extension ContentStream {
  /// Produces all pieces of one pass and checks their total length.
  ///
  /// - Parameter take: receives a piece; returns whether another piece is needed.
  /// - Throws: the error of producing or receiving a piece; `TransportError` if the length differs from the announced
  ///   length.
  func makeAll(_ take: (Data) async throws -> Bool) async throws {
    let next = try makePieces()
    var total: Int64 = 0
    while let piece = try await next() {
      total += Int64(piece.count)
      if let length, total > length { throw Self.wrongLength(length) }
      guard try await take(piece) else { return }
    }
    if let length, total != length { throw Self.wrongLength(length) }
  }

  private static func wrongLength(_ length: Int64) -> TransportError {
    TransportError(
      .connectionLost, requestState: .maybeSent,
      detail: "the content to send does not have the announced \(length) bytes"
    ).attributed(to: .content)
  }
}
