public import ApusCore
import HTTPTypes
public import Logging

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A middleware that logs the content (body) of each request and response, for debugging.
///
/// It is not part of the default pipeline. Insert it innermost, so that it logs the content as it is sent:
///
/// <!-- sample: content-logging -->
/// ```swift
/// import Logging
///
/// let debugged = Client(baseURL: "https://api.example.com/v1") {
///   $0.customizePipeline = { $0.insert(ContentLoggingMiddleware(Logger(label: "api")), .before(.transport)) }
/// }
/// ```
///
/// The middleware logs JSON and forms up to a limit and masks the values of members whose names suggest a secret. It
/// logs other text up to the limit, and masks each line that contains such a word. Of all other content it logs only
/// the media type and the length. This includes malformed JSON and forms, JSON of more than 8 MiB, and multipart
/// content. A secret under another name is logged, so use this middleware in development, not in production. It logs
/// neither content from a file or stream, nor fields (headers), nor the content of a sign-in by `ApusOAuth`.
public struct ContentLoggingMiddleware: Middleware {
  /// The words that mark a member as secret if its name contains one of them, ignoring case, `_` and `-`.
  ///
  /// If all of these words are used, short words such as `key`, `auth` and `pin` also mark a member if they are a whole
  /// word of its name: `apiKey` and `auth_code`, but not `author`. The same words mark the fields of a request that are
  /// not sent to another origin.
  public static let defaultMaskedNames: Set<String> = RevealingWords.standardParts

  private let logger: Logger
  let level: Logger.Level
  let limit: Int
  private let masker: ContentMasker

  /// Creates the middleware.
  ///
  /// - Parameters:
  ///   - logger: the logger.
  ///   - level: the level of the lines. Default: `debug`. Content is neither read nor logged if the logger's level is
  ///     higher.
  ///   - limit: the maximum number of bytes that are logged of a message's content. Default: 4 KiB.
  ///   - maskedNames: the words that mark a member as secret. Default: ``defaultMaskedNames``.
  public init(
    _ logger: Logger, level: Logger.Level = .debug, limit: Int = 4 << 10,
    maskedNames: Set<String> = ContentLoggingMiddleware.defaultMaskedNames
  ) {
    (self.logger, self.level, self.limit) = (logger, level, max(0, limit))
    masker = ContentMasker(words: RevealingWords(maskedNames))
  }

  /// Logs a line for the request and a line for its response.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard logger.logLevel <= level, context.delivery != .described, !context.values[ConfidentialContentKey.self] else {
      return try await next(request, context: context)
    }
    log("request content", request.content.shown, request.head.headerFields, context)
    let response = try await next(request, context: context)
    log("response content", response.content.bytes.map { .bytes($0) } ?? .other, response.head.headerFields, context)
    return response
  }

  private func log(_ message: Logger.Message, _ content: ShownContent, _ fields: HTTPFields, _ context: CallContext) {
    let type = fields[.contentType].map { MediaType($0) }
    var metadata: Logger.Metadata = ["call": "\(context.call.id)", "attempt": "\(context.attempt)"]
    if let type { metadata["type"] = "\(type.essence.filter(\.isASCII))" }
    switch content {
    case .none: return
    case .other: metadata["content"] = "not in memory"
    case .bytes(let data):
      metadata["length"] = "\(data.count)"
      if let type, let text = masker.text(of: data, type, limit: limit) { metadata["content"] = "\(text)" }
    }
    logger.log(level: level, message, metadata: metadata)
  }
}

/// Content in the form in which it is logged.
private enum ShownContent {
  case none
  case bytes(Data)
  case other
}

extension MessageContent {
  fileprivate var shown: ShownContent {
    switch self {
    case .empty: .none
    case .bytes(let data): .bytes(data)
    case .file, .stream, .joined: .other
    }
  }
}
