public import ApusCore
import HTTPTypes
public import Logging

/// An observer that logs a line when a call's request is ready and a line when the call ends: id, method, URL, status,
/// duration.
///
/// It is an observer, not a middleware, so that the last line has the result of the call: a middleware does not receive
/// timeouts, superseded calls and decoding errors. Clients have no such observer by default. The path is logged as its
/// template, or as sent with the query's values masked; fields and content are never logged.
public struct RequestLogging: CallObserver {
  private let logger: Logger
  let level: Logger.Level
  let showsPaths: Bool

  /// Creates the observer.
  ///
  /// - Parameters:
  ///   - logger: the logger.
  ///   - level: the level of ordinary lines and of cancelled calls. Failed calls are logged as `warning`, or at this
  ///     level if it is higher. Default: `info`.
  ///   - showsPaths: whether the path is logged as sent, including ids. Default: `false`, the template.
  public init(_ logger: Logger, level: Logger.Level = .info, showsPaths: Bool = false) {
    self.logger = logger
    self.level = level
    self.showsPaths = showsPaths
  }

  /// Logs the events that begin and end a call.
  public func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .prepared:
      log("request", at: level, event, of: call)
    case .succeeded:
      log("response", at: level, event, of: call)
    case .failed(let code):
      log("failed", at: code == .cancelled ? level : max(level, .warning), event, of: call)
    default: break
    }
  }

  private func log(_ message: Logger.Message, at level: Logger.Level, _ event: TraceEvent, of call: CallEntry) {
    guard logger.logLevel <= level else { return }
    var metadata: Logger.Metadata = [
      "call": "\(call.id)", "method": "\(call.endpoint.method.rawValue)", "url": "\(url(of: call))",
    ]
    if event.kind != .prepared {
      metadata["duration"] = "\(call.startInstant.duration(to: event.instant))"
      if let status = call.head?.status.code { metadata["status"] = "\(status)" }
    }
    if case .failed(let code) = event.kind {
      metadata["error"] = "\(code.rawValue)"
      if code == .timeout { metadata["phase"] = "\(call.phase)" }
    }
    logger.log(level: level, message, metadata: metadata)
  }

  private func url(of call: CallEntry) -> String {
    guard showsPaths, let head = call.request else { return call.urlTemplate }
    let message = RequestMessage(head: head)
    return (message.origin.map { "\($0)" } ?? "") + Redaction().target(message.target)
  }
}

extension RequestLogging: SelfDescribing {
  /// The settings for `describe()`.
  package var facts: [Fact] {
    [.setting("level", level.rawValue), .setting("paths", showsPaths ? "as sent" : "as templates")]
  }
}
