import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A line of a batch, which describes a request.
struct BatchLine: Sendable, Decodable {
  /// The number that identifies the result.
  var n: Int
  /// The method. Default: `GET`, or `POST` when there is content.
  var method: String?
  var url: String
  /// Pairs of name and value, in order. White space around values is not sent.
  var headers: [[String]]?
  /// The content, sent as UTF-8.
  var body: String?
  /// Whether redirects are followed. Default: the command line's option.
  var redirect: Redirect?
  /// The timeout of the whole call in seconds, including the wait for a connection.
  var timeoutSeconds: Double?
  /// The maximum length of the response's content in bytes. Default: 64 MiB.
  var contentLimit: Int?

  enum Redirect: String, Sendable, Decodable {
    case follow, manual
  }

  enum CodingKeys: String, CodingKey {
    case n, method, url, headers, body, redirect
    case timeoutSeconds = "timeout_s"
    case contentLimit = "max_body"
  }

  /// An invalid line.
  struct Unusable: Error, Sendable, Hashable {
    /// The line's number; `nil` when it could not be read.
    var number: Int?
    /// The reason, as part of a sentence.
    var reason: String
  }

  /// Decodes a line.
  ///
  /// - Throws: ``Unusable``
  init(_ bytes: Data) throws(Unusable) {
    let decoder = JSONDecoder()
    do {
      self = try decoder.decode(BatchLine.self, from: bytes)
    } catch {
      let number = try? decoder.decode(Numbered.self, from: bytes).n
      throw Unusable(number: number, reason: DecodingReason.of(error))
    }
    if headers?.contains(where: { $0.count != 2 }) == true {
      throw Unusable(number: n, reason: "headers must be pairs of name and value")
    }
    if let timeoutSeconds, !(0...Self.maximumTimeout).contains(timeoutSeconds) {
      throw Unusable(number: n, reason: "timeout_s must be from 0 to \(Int(Self.maximumTimeout))")
    }
    if let contentLimit, contentLimit < 0 { throw Unusable(number: n, reason: "max_body must not be negative") }
  }

  /// The maximum timeout in seconds, about thirty years; a longer timeout is a mistake.
  private static let maximumTimeout = 1e9

  private struct Numbered: Decodable {
    var n: Int
  }

  /// Returns the line's request.
  ///
  /// - Parameters:
  ///   - url: the URL of the line.
  ///   - interim: receives interim responses.
  /// - Throws: ``Unusable`` for a method that is not a token.
  func request(
    to url: TargetURL, interim: @escaping @Sendable (HTTPResponse) -> Void
  ) throws(Unusable) -> Request<Content> {
    let content = body.map { Data($0.utf8) } ?? Data()
    guard let method = HTTPRequest.Method(rawValue: method ?? (content.isEmpty ? "GET" : "POST")) else {
      throw Unusable(number: n, reason: "the method is not a token")
    }
    var request = Request<Content>(
      method: method, path: RequestPath(stringLiteral: url.endpointName),
      content: RequestContent(nil) { _ in content.isEmpty ? .empty : .bytes(content) }, mapping: .content
    )
    .accepting(.any)
    .contentLimit(contentLimit ?? 64 << 20)
    .setting(InterimResponses.self, interim)
    .setting(
      WrittenMessageKey.self,
      WrittenMessage(target: url.target, fields: (headers ?? []).map { RawField($0[0], Item.trimmed($0[1])) }))
    request.options.timeout = timeoutSeconds.map { .seconds($0) }
    return request
  }
}
