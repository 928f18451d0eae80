public import ApusCore
import HTTPTypes
public import Logging

/// Writes one line when a call goes out and one when it ends: id, method, URL, status, duration.
///
/// Off unless it is put into the pipeline. Values of the query are masked, the path is shown as its
/// template; fields and content are not logged at all.
public struct RequestLogging: Middleware {
  private let logger: Logger
  private let level: Logger.Level
  private let showsPaths: Bool

  /// Makes the middleware.
  ///
  /// - Parameters:
  ///   - logger: where the lines go.
  ///   - level: of ordinary lines; failed calls are logged one level up, as `warning`. Default: `info`.
  ///   - showsPaths: whether the path is shown as sent, ids included. Default: the template.
  public init(_ logger: Logger, level: Logger.Level = .info, showsPaths: Bool = false) {
    self.logger = logger
    self.level = level
    self.showsPaths = showsPaths
  }

  /// Logs a pass of a call.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery != .described else { return try await next(request, context: context) }
    let start = context.now
    var metadata: Logger.Metadata = [
      "call": "\(context.id)", "method": "\(request.head.method.rawValue)", "url": "\(url(of: request, context))",
    ]
    logger.log(level: level, "request", metadata: metadata)
    do {
      let response = try await next(request, context: context)
      metadata["status"] = "\(response.head.status.code)"
      metadata["duration"] = "\(start.duration(to: context.now))"
      logger.log(level: level, "response", metadata: metadata)
      return response
    } catch {
      metadata["error"] = "\(label(of: error))"
      metadata["duration"] = "\(start.duration(to: context.now))"
      logger.log(level: max(level, .warning), "failed", metadata: metadata)
      throw error
    }
  }

  private func url(of request: RequestMessage, _ context: CallContext) -> String {
    let origin = request.origin.map { "\($0)" } ?? ""
    guard showsPaths else { return origin + context.endpoint.template }
    return origin + Redaction().target(request.target)
  }

  /// What kind of error it was; the error's own text may quote what was sent.
  private func label(of error: any Error) -> String {
    switch error {
    case let error as TransportError: "\(error.kind)"
    case let error as CallError: error.code.rawValue
    default: "\(type(of: error))"
    }
  }
}
