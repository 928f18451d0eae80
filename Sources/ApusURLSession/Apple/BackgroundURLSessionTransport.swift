#if canImport(Security)
public import ApusCore
import Foundation
import HTTPTypes
import Security
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transport over a background `URLSession`: the system continues its exchanges while the app is suspended, and
/// after the system has terminated the process.
///
/// The transport serves only the calls of an `ApusTransfers` queue, because these calls name their transfers. A new
/// process that creates the queue again receives the outcome of the exchanges that an earlier process began. Other
/// calls are refused. Create one transport for an identifier, at the launch of the app, and forward the system's
/// completion handler:
///
/// <!-- sample: none for Apple platforms only -->
/// ```swift
/// let transport = BackgroundURLSessionTransport("com.example.films")
/// // in the app's delegate, in application(_:handleEventsForBackgroundURLSession:completionHandler:)
/// transport.finishEvents(then: completionHandler)
/// ```
///
/// Use the transport with a separate client without timeouts, because the system decides when to transfer. Content to
/// send is written to a file first. The system stores each request, with its credentials, until the exchange ends.
///
/// The page of the module ``ApusURLSession`` lists what a background session cannot do.
public final class BackgroundURLSessionTransport: Transport {
  private let options: URLSessionTransport.Options
  private let session: URLSession
  private let bridge: BackgroundBridge
  private let folder: BackgroundFolder
  /// Completed when the tasks of earlier processes are known.
  private let restoration: Task<Void, Never>

  /// Creates the transport, and restores the exchanges of earlier processes.
  ///
  /// - Parameters:
  ///   - identifier: the identifier of the session, unique in the app and the same at each launch.
  ///   - options: the options of the session.
  public init(_ identifier: String, options: URLSessionTransport.Options = URLSessionTransport.Options()) {
    self.options = options
    let folder = BackgroundFolder(identifier)
    let bridge = BackgroundBridge(trust: options.trust, folder: folder)
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    configuration.sessionSendsLaunchEvents = true
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    configuration.apply(options)
    let session = URLSession(configuration: configuration, delegate: bridge, delegateQueue: nil)
    (self.folder, self.bridge, self.session) = (folder, bridge, session)
    restoration = Task {
      for task in await session.allTasks {
        guard let name = task.taskDescription else { continue }
        bridge.tasks.withLock { $0.restore(name, task: task.taskIdentifier) }
      }
    }
  }

  /// Calls a closure once the session has delivered all events of exchanges that ended while the app was suspended.
  ///
  /// - Parameter handler: the completion handler that the system has passed to the app's delegate. Called on the main
  ///   actor.
  public func finishEvents(then handler: @escaping @MainActor @Sendable () -> Void) {
    bridge.finishEvents.withLock { $0 = handler }
  }

  /// Sends a message, or returns the outcome if an earlier process has sent the same message. Returns when the exchange
  /// is complete.
  ///
  /// - Throws: `TransportError`; `CancellationError` when the task is cancelled. Cancellation ends the exchange.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    guard let transfer = context.values[BackgroundTransferKey.self] else {
      throw Self.refused("a background session serves only the calls of queued transfers")
    }
    guard options.addresses == .any else { throw Self.refused("a background session cannot check addresses") }
    let prepared = try await PlatformRequest(request, userAgent: options.userAgent, in: context)
    await restoration.value
    let name = Self.name(of: request, transfer)
    let outcome = try await withTaskCancellationHandler {
      try await wait(for: prepared, name)
    } onCancel: {
      abandon(name)
    }
    return try outcome.message(to: prepared)
  }

  /// Returns the name of an exchange. The name is the same in each process, and contains no secrets.
  private static func name(of request: RequestMessage, _ transfer: String) -> String {
    let fields = request.head.headerFields
    let offset = HTTPField.Name("Upload-Offset").flatMap { fields[$0] }
    return [transfer, request.head.method.rawValue, fields[.range] ?? "", offset ?? ""].joined(separator: " ")
  }

  private static func refused(_ detail: String) -> TransportError {
    TransportError(.invalidRequest, requestState: .notSent, detail: detail)
  }

  private func wait(for request: PlatformRequest, _ name: String) async throws -> BackgroundOutcome {
    let isRunning = bridge.tasks.withLock { $0.knows(name) }
    let file = try await folder.file(with: request.content, for: name, isRunning: isRunning)
    return try await withCheckedThrowingContinuation { waiter in
      // The task is marked as cancelled before its cancellation handler runs: either the handler finds the waiter, or
      // this check detects the cancellation.
      let claim = bridge.tasks.withLock { Task.isCancelled ? nil : $0.claim(name, waiter) }
      switch claim {
      case nil: waiter.resume(throwing: CancellationError())
      case .busy: waiter.resume(throwing: Self.refused("another call waits for the same exchange"))
      case .finished(let outcome): waiter.resume(returning: outcome)
      case .wait: break
      case .create: start(request, file, name)
      }
    }
  }

  private func start(_ request: PlatformRequest, _ file: URL?, _ name: String) {
    let task: URLSessionTask
    if let file {
      task = session.uploadTask(with: request.urlRequest, fromFile: file)
    } else if let data = bridge.resumeData.withLock({ $0.removeValue(forKey: name) }) {
      task = session.downloadTask(withResumeData: data)
    } else {
      task = session.downloadTask(with: request.urlRequest)
    }
    task.taskDescription = name
    if bridge.tasks.withLock({ $0.started(name, task: task.taskIdentifier) }) { task.resume() } else { task.cancel() }
  }

  /// Ends an exchange. The resume data of a download is stored in memory, for a later call in this process.
  private func abandon(_ name: String) {
    let (waiter, number) = bridge.tasks.withLock { $0.abandon(name) }
    waiter?.resume(throwing: CancellationError())
    guard let number else { return }
    session.getAllTasks { [bridge] tasks in
      guard let task = tasks.first(where: { $0.taskIdentifier == number }) else { return }
      guard let download = task as? URLSessionDownloadTask else { return task.cancel() }
      download.cancel { data in
        guard let data else { return }
        bridge.resumeData.withLock { $0[name] = data }
      }
    }
  }

  deinit {
    for waiter in bridge.tasks.withLock({ $0.abandonAll() }) { waiter.resume(throwing: CancellationError()) }
    session.finishTasksAndInvalidate()
  }
}

/// The outcome of an exchange: the platform's response, and its content in a file or in memory.
struct BackgroundOutcome: Sendable {
  let response: URLResponse?
  let content: Data
  /// The file of a download, which the session has moved to its folder.
  let file: URL?
  let error: (any Error)?

  func message(to request: PlatformRequest) throws -> ResponseMessage {
    if let error { throw TransportError(error, hasHead: response != nil) }
    guard let response, let head = ResponseHead(response, to: request) else {
      throw TransportError(.malformedResponse, requestState: .responded, detail: "the response is not HTTP")
    }
    guard let file else { return head.message(ResponseContent(content)) }
    return head.message(try DownloadedContent(file))
  }
}

/// The content of a file that is removed after reading.
private final class DownloadedContent: ContentSource {
  private let url: URL
  private let file: Mutex<FileHandle?>

  init(_ url: URL) throws {
    self.url = url
    file = Mutex(try FileHandle(forReadingFrom: url))
  }

  @concurrent
  func next() async throws -> Data? {
    let piece = try file.withLock { try $0?.read(upToCount: 256 << 10) }
    if let piece, !piece.isEmpty { return piece }
    cancel()
    return nil
  }

  func cancel() {
    let open = file.withLock { file in
      defer { file = nil }
      return file
    }
    guard let open else { return }
    try? open.close()
    try? FileManager.default.removeItem(at: url)
  }

  deinit {
    cancel()
  }
}
#endif
