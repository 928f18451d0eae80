public import Foundation

/// One request and what became of it, as the server saw it.
///
/// Never holds a token, a password or an API key: credentials appear as the beginning of their hash, secret parameters
/// of the query as `[redacted]`.
public struct LoggedExchange: Codable, Equatable, Sendable, Identifiable {
  /// Counts the exchanges of a backend, from 1; ``ExchangeLog/clear()`` does not start it anew.
  public let sequence: Int
  /// Counts the connections of a backend, from 1: exchanges with the same number came over one connection.
  public let connection: Int
  /// When the request arrived.
  public let time: Date
  /// The request's method.
  public let method: String
  /// The path, without the query.
  public let path: String
  /// The query, without its question mark, or `nil`.
  public let query: String?
  /// The `User-Agent`, or `nil`.
  public let userAgent: String?
  /// The request's `Content-Length`, or `nil`.
  public let requestContentLength: Int?
  /// The kind of credential and the beginning of its SHA-256: `bearer:1f2e3d4c5b6a`; see ``Backend/fingerprint(of:)``.
  public let credential: String?
  /// The beginning of the SHA-256 of the request's `Idempotency-Key`, or `nil`.
  public let idempotencyKey: String?
  /// How many requests the backend was at work on when this one arrived, this one included: none of their answers had
  /// begun.
  public let atWork: Int
  /// The account that the credential belongs to; `nil` when there is none or the credential was refused.
  public internal(set) var account: Int64?
  /// The answer's status; `nil` while there is none, and for good when the client left before.
  public internal(set) var status: Int?
  /// How many bytes of content the answer has; `nil` when that was not known beforehand.
  public internal(set) var responseContentLength: Int?
  /// Whether the client closed the connection before the answer had ended.
  public internal(set) var clientLeft = false
  /// How long it took from the request's head to the answer's end, in milliseconds; `nil` while it goes on.
  public internal(set) var durationMilliseconds: Double?

  /// The rows that `GET /__log` answered with.
  ///
  /// - Parameter content: The answer's content.
  /// - Throws: `DecodingError` when it is something else.
  public static func rows(from content: Data) throws -> [LoggedExchange] {
    struct Listing: Decodable {
      let items: [LoggedExchange]
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(Listing.self, from: content).items
  }

  /// The sequence number.
  public var id: Int { sequence }

  /// Whether nothing will change any more: the answer is out, or the client has left.
  public var hasEnded: Bool { durationMilliseconds != nil }
}
