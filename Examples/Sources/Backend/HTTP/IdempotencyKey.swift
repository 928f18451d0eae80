import Foundation
import HTTPTypes

/// The field `Idempotency-Key`: requests with the same key are repetitions of one request.
struct IdempotencyKey: Sendable {
  private static let name = HTTPField.Name("Idempotency-Key")

  private let text: String

  /// Returns the key of a request; `nil` when it has none.
  ///
  /// - Throws: `Problem` with status 400 unless the key is 1 to 255 visible ASCII characters. A repeated field is
  ///   rejected too, because its values are joined by a comma and a space.
  static func of(_ fields: HTTPFields) throws(Problem) -> IdempotencyKey? {
    guard let text = value(in: fields) else { return nil }
    guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .badRequest("The Idempotency-Key must be 1 to 255 visible ASCII characters.")
    }
    return IdempotencyKey(text: text)
  }

  /// Returns the key's fingerprint for the log, even of an invalid key.
  static func fingerprint(in fields: HTTPFields) -> String? {
    value(in: fields).map { Redaction.fingerprint(of: $0) }
  }

  private static func value(in fields: HTTPFields) -> String? {
    name.flatMap { fields[$0] }
  }

  /// The hash of the key. The key is not stored itself, because it gives access to the result of its request.
  var hash: Data { OpaqueToken(text: text).hash }
}
