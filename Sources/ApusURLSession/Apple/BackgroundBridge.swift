#if canImport(Security)
import ApusCore
import Foundation
import Security
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a background session: collects the response of each task, and delivers its outcome.
///
/// Called on the session's serial queue, also for tasks of earlier processes.
final class BackgroundBridge: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
  /// The part of a task's response that has arrived.
  private struct Received {
    var content = Data()
    var file: URL?
  }

  let tasks = Mutex(BackgroundTasks<CheckedContinuation<BackgroundOutcome, any Error>, BackgroundOutcome>())
  /// The resume data of cancelled downloads, by the name of their task. In memory only, because the data contains the
  /// request's credentials.
  let resumeData = Mutex<[String: Data]>([:])
  let finishEvents = Mutex<(@MainActor @Sendable () -> Void)?>(nil)
  private let received = Mutex<[Int: Received]>([:])
  private let trust: URLSessionTransport.Trust
  private let folder: BackgroundFolder

  init(trust: URLSessionTransport.Trust, folder: BackgroundFolder) {
    (self.trust, self.folder) = (trust, folder)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    received.withLock { received in
      // The content of the response to an upload, truncated at the limit. Truncated content fails to decode.
      let present = received[dataTask.taskIdentifier]?.content.count ?? 0
      received[dataTask.taskIdentifier, default: Received()].content += data.prefix(Self.contentLimit - present)
    }
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    // The system removes the file when this function returns.
    let file = folder.take(location)
    received.withLock { $0[downloadTask.taskIdentifier, default: Received()].file = file }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let name = task.taskDescription else { return }
    let received = received.withLock { $0.removeValue(forKey: task.taskIdentifier) } ?? Received()
    folder.removeContent(for: name)
    let outcome = BackgroundOutcome(
      response: task.response, content: received.content, file: received.file, error: error)
    let waiter = tasks.withLock { $0.end(name, task: task.taskIdentifier, outcome) }
    waiter?.resume(returning: outcome)
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    let handler = finishEvents.withLock { handler in
      defer { handler = nil }
      return handler
    }
    guard let handler else { return }
    Task { @MainActor in handler() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    switch trust.response(to: challenge) {
    case .system: completionHandler(.performDefaultHandling, nil)
    case .none: completionHandler(.rejectProtectionSpace, nil)
    case .credential(let credential): completionHandler(.useCredential, credential)
    case .refused: completionHandler(.cancelAuthenticationChallenge, nil)
    }
  }

  private static let contentLimit = 1 << 20
}

/// The folder of a background session, in the app's caches: content to send, and received files.
struct BackgroundFolder: Sendable {
  private let url: URL

  init(_ identifier: String) {
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
    url = (caches ?? FileManager.default.temporaryDirectory).appending(path: "apus-background/\(identifier)")
  }

  private func make() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Moves a received file into the folder. Returns `nil` if that fails.
  func take(_ location: URL) -> URL? {
    let target = url.appending(path: UUID().uuidString)
    do {
      try make()
      try FileManager.default.moveItem(at: location, to: target)
      return target
    } catch {
      return nil
    }
  }

  private func content(for name: String) -> URL {
    url.appending(path: "\(name.replacing("/", with: "-")).content")
  }

  /// Writes the content of a request to a file; returns `nil` if there is no content. Content that is a whole file
  /// already is not copied.
  ///
  /// - Parameter isRunning: whether a task with the name reads the file of an earlier call. If `false`, such a file was
  ///   left by a process that died, and its content may be outdated.
  @concurrent
  func file(with content: MessageContent, for name: String, isRunning: Bool) async throws -> URL? {
    if case .file(let file) = content, file.length > 0 { return try OutgoingContent.url(of: file) }
    guard content.length != 0 else { return nil }
    let target = self.content(for: name)
    if FileManager.default.fileExists(atPath: target.path) {
      if isRunning { return target }
      try FileManager.default.removeItem(at: target)
    }
    try make()
    let draft = url.appending(path: UUID().uuidString)
    guard let file = PrivateFile.create(at: draft) else {
      throw OutgoingContent.failure("the content cannot be written to a file")
    }
    try await content.asStream().makeAll { piece in
      try file.write(contentsOf: piece)
      return true
    }
    try file.close()
    try FileManager.default.moveItem(at: draft, to: target)
    return target
  }

  func removeContent(for name: String) {
    try? FileManager.default.removeItem(at: content(for: name))
  }
}
#endif
