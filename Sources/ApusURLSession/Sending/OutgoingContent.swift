import ApusCore
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Content in the form in which a session takes it.
enum OutgoingContent: Sendable {
  case none
  case bytes(Data)
  case file(URL)
  case stream(any OutgoingStream)

  /// Brings the content of a message into a form that the platform can send.
  ///
  /// - Throws: ``TransportError`` when content cannot be made; `CancellationError`.
  init(_ content: MessageContent, in context: ExchangeContext) async throws {
    switch content {
    case .bytes(let data) where !data.isEmpty: self = .bytes(data)
    case .file(let file) where file.length > 0: self = .file(try Self.url(of: file))
    case .stream(let stream):
      #if canImport(Security)
        self = .stream(PieceMaker(stream))
      #else
        self = .stream(try await Spool.fill(from: stream, in: context))
      #endif
    default: self = .none
    }
  }

  /// Looks at the file once more: a session tells of one that is gone or was cut as of a connection that broke.
  private static func url(of file: ContentFile) throws -> URL {
    let found: ContentFile
    do {
      found = try ContentFile(path: file.path)
    } catch {
      throw failure("the file to send cannot be read", error)
    }
    guard found.length == file.length else { throw failure("the content has another length than was announced") }
    return URL(fileURLWithPath: file.path)
  }

  private static func failure(_ detail: String, _ cause: (any Error)? = nil) -> TransportError {
    TransportError(.broken, requestState: .notSent, detail: detail, underlying: cause).about(.content)
  }

  /// A task that does not run yet.
  func task(for request: URLRequest, in session: URLSession) throws -> URLSessionTask {
    switch self {
    case .none: return session.dataTask(with: request)
    case .bytes(let data): return session.uploadTask(with: request, from: data)
    case .file(let url): return session.uploadTask(with: request, fromFile: url)
    case .stream(let stream): return try stream.task(for: request, in: session)
    }
  }

  /// What the session reads as a stream, if it does.
  var stream: (any OutgoingStream)? {
    if case .stream(let stream) = self { return stream }
    return nil
  }
}
