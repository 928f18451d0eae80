import ApusCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Content that is produced before it is sent: small content in memory, larger content in a temporary file.
///
/// For Linux, where all sessions share one thread that reads content from streams: a reader that waited for a piece
/// would block every exchange of the process.
final class Spool: OutgoingStream {
  /// The maximum number of bytes kept in memory.
  static let memoryLimit = 256 << 10

  private enum Storage {
    case memory(Data)
    case file(URL)
  }

  private let storage: Storage
  private let length: Int64
  /// Whether the message announces the length, which was known before the content was produced.
  private let announcesLength: Bool

  private init(_ storage: Storage, length: Int64, announcesLength: Bool) {
    self.storage = storage
    self.length = length
    self.announcesLength = announcesLength
  }

  func task(for request: URLRequest, in session: URLSession) throws -> URLSessionTask {
    switch storage {
    case .memory(let data) where announcesLength && !data.isEmpty: return session.uploadTask(with: request, from: data)
    case .file(let url) where announcesLength: return session.uploadTask(with: request, fromFile: url)
    default:
      var request = request
      request.httpBodyStream = try inputStream()
      return session.dataTask(with: request)
    }
  }

  /// Opens the content for reading from its start. Reads never block.
  private func inputStream() throws -> InputStream {
    switch storage {
    case .memory(let data): return InputStream(data: data)
    case .file(let url):
      guard let stream = InputStream(url: url) else { throw Self.failure("cannot be read again") }
      return stream
    }
  }

  func start(in context: ExchangeContext, onFailure: @escaping @Sendable (any Error) -> Void) {}

  func stop() {}

  func isSent(_ count: Int64) -> Bool { count >= length }

  deinit {
    if case .file(let url) = storage { try? FileManager.default.removeItem(at: url) }
  }

  // MARK: Producing

  /// Produces the content of a stream.
  ///
  /// - Throws: the producer's error, as a `TransportError` for a request that was not sent; the error of an attempt
  ///   whose deadline has passed; `CancellationError` when the task is cancelled. The last two are thrown immediately,
  ///   even if the producer ignores its cancellation.
  static func fill(from stream: ContentStream, in context: ExchangeContext) async throws -> Spool {
    let outcome = Outcome()
    let work = context.spawn { outcome.resolve(await result(of: stream)) }
    let alarm = context.alarm(for: SpoolLimit(of: work, outcome))
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { outcome.wait($0) }
    } onCancel: {
      work.cancel()
      outcome.resolve(.failure(CancellationError()))
    }
  }

  private static func result(of stream: ContentStream) async -> Result<Spool, any Error> {
    do {
      return .success(try await collect(stream))
    } catch var error as TransportError {
      error.requestState = .notSent
      return .failure(error.attributed(to: .content))
    } catch is CancellationError {
      return .failure(CancellationError())
    } catch {
      return .failure(
        TransportError(
          .connectionLost, requestState: .notSent, detail: "the content to send could not be produced",
          underlying: error
        ).attributed(to: .content))
    }
  }

  private static func collect(_ stream: ContentStream) async throws -> Spool {
    var waiting = Data()
    var length: Int64 = 0
    var file: (url: URL, handle: FileHandle)?
    do {
      try await stream.makeAll { piece in
        waiting.append(piece)
        length += Int64(piece.count)
        if waiting.count > memoryLimit {
          let open = try file ?? makeFile()
          file = open
          try open.handle.write(contentsOf: waiting)
          waiting.removeAll(keepingCapacity: true)
        }
        return true
      }
      let announcesLength = stream.length != nil
      guard let file else { return Spool(.memory(waiting), length: length, announcesLength: announcesLength) }
      try file.handle.write(contentsOf: waiting)
      try file.handle.close()
      return Spool(.file(file.url), length: length, announcesLength: announcesLength)
    } catch {
      if let file { try? FileManager.default.removeItem(at: file.url) }
      throw error
    }
  }

  private static func makeFile() throws -> (URL, FileHandle) {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("apus-content-\(UUID().uuidString)")
    guard let file = PrivateFile.create(at: url) else {
      throw failure("has no room in the directory for temporary files")
    }
    return (url, file)
  }

  private static func failure(_ fault: String) -> TransportError {
    TransportError(.connectionLost, requestState: .notSent, detail: "the content to send \(fault)").attributed(
      to: .content)
  }
}

/// A limit that stops production when the attempt's deadline passes.
private final class SpoolLimit: DeadlineTarget {
  private let work: Task<Void, Never>
  private let outcome: Outcome

  init(of work: Task<Void, Never>, _ outcome: Outcome) {
    (self.work, self.outcome) = (work, outcome)
  }

  func deadlinePassed() {
    // Resolved before the cancellation, because the cancelled producer resolves the outcome as well, with its own
    // error.
    outcome.resolve(.failure(TransportError.attemptTimedOut(in: .connecting, requestState: .notSent)))
    work.cancel()
  }
}

/// The first of several possible results, for one waiter.
private final class Outcome: Sendable {
  private struct State {
    var result: Result<Spool, any Error>?
    var waiter: CheckedContinuation<Spool, any Error>?
  }

  private let state = Mutex(State())

  func wait(_ waiter: CheckedContinuation<Spool, any Error>) {
    let result = state.withLock { state in
      if state.result == nil { state.waiter = waiter }
      return state.result
    }
    if let result { waiter.resume(with: result) }
  }

  func resolve(_ result: Result<Spool, any Error>) {
    let waiter = state.withLock { state in
      guard state.result == nil else { return nil as CheckedContinuation<Spool, any Error>? }
      state.result = result
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(with: result)
  }
}
