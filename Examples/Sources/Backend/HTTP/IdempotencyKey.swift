import Foundation
import HTTPTypes

/// What tells requests that are one from requests that are several: the field `Idempotency-Key`.
struct IdempotencyKey: Sendable {
  private static let name = HTTPField.Name("Idempotency-Key")

  private let text: String

  /// The key of a request, if it has one.
  ///
  /// - Throws: `Problem` with status 400 when it is not 1 to 255 visible ASCII characters; two fields of that name are
  ///   not, since they count as one with a comma and a blank.
  static func of(_ fields: HTTPFields) throws(Problem) -> IdempotencyKey? {
    guard let text = value(in: fields) else { return nil }
    guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .badRequest("The Idempotency-Key must be 1 to 255 visible ASCII characters.")
    }
    return IdempotencyKey(text: text)
  }

  /// What the log shows of it, whatever it is.
  static func fingerprint(in fields: HTTPFields) -> String? {
    value(in: fields).map { Redaction.fingerprint(of: $0) }
  }

  private static func value(in fields: HTTPFields) -> String? {
    name.flatMap { fields[$0] }
  }

  /// What is stored: whoever knows a key learns what came of its request.
  var hash: Data { OpaqueToken(text: text).hash }
}
