import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One request of a batch, as its line describes it.
struct BatchLine: Sendable, Decodable {
  /// Its number, by which its answer is known.
  var n: Int
  /// Default: `GET`, or `POST` when there is content.
  var method: String?
  var url: String
  /// Names and values, in order; names may repeat.
  var headers: [[String]]?
  /// The content, sent in UTF-8.
  var body: String?
  /// Whether redirects are followed. Default: as the command line says.
  var redirect: Redirect?
  /// The limit of the whole call, waiting included, in seconds.
  var timeoutSeconds: Double?
  /// The most bytes of content that are taken from the answer. Default: 64 MiB.
  var contentLimit: Int?

  enum Redirect: String, Sendable, Decodable {
    case follow, manual
  }

  enum CodingKeys: String, CodingKey {
    case n, method, url, headers, body, redirect
    case timeoutSeconds = "timeout_s"
    case contentLimit = "max_body"
  }

  /// A line that cannot be used.
  struct Unusable: Error, Sendable, Hashable {
    /// Its number, as far as it could be read.
    var number: Int?
    /// What is wrong, as half a sentence.
    var reason: String
  }

  /// Reads a line.
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
      throw Unusable(number: n, reason: "headers must be pairs of a name and a value")
    }
    if let timeoutSeconds, !(0...Self.longestTimeout).contains(timeoutSeconds) {
      throw Unusable(number: n, reason: "timeout_s must be from 0 to \(Int(Self.longestTimeout))")
    }
    if let contentLimit, contentLimit < 0 { throw Unusable(number: n, reason: "max_body must not be negative") }
  }

  /// Thirty years: longer ones are mistakes.
  private static let longestTimeout = 1e9

  private struct Numbered: Decodable {
    var n: Int
  }

  /// The request of the line.
  ///
  /// - Parameters:
  ///   - url: of the line.
  ///   - interim: told of interim responses.
  /// - Throws: ``Unusable`` for a method that is no token.
  func request(
    to url: TargetURL, interim: @escaping @Sendable (HTTPResponse) -> Void
  ) throws(Unusable) -> Request<Content> {
    let content = body.map { Data($0.utf8) } ?? Data()
    guard let method = HTTPRequest.Method(rawValue: method ?? (content.isEmpty ? "GET" : "POST")) else {
      throw Unusable(number: n, reason: "its method is not a token")
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
      WrittenMessage(target: url.target, fields: (headers ?? []).map { RawField($0[0], $0[1]) }))
    request.options.timeout = timeoutSeconds.map { .seconds($0) }
    return request
  }
}
