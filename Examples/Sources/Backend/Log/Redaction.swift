import Crypto
import Foundation
import HTTPTypes

/// Functions that remove secrets from the log.
enum Redaction {
  private static let secretParameters: Set = [
    "api_key", "access_token", "refresh_token", "token", "password", "code", "code_verifier", "state",
  ]

  /// Returns the start of a secret's hash, which identifies the secret without revealing it.
  static func fingerprint(of secret: String) -> String {
    SHA256.hash(data: Data(secret.utf8)).prefix(6).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Returns the query with the values of secret parameters masked.
  static func query(_ query: String?) -> String? {
    guard let query else { return nil }
    // Split by bytes: a combining mark after a delimiter would merge with it into one character.
    let pairs = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { pair -> String in
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return String(Substring(pair)) }
      let name = String(Substring(pair[..<equals]))
      // An escaped name is the same name.
      let decoded = name.removingPercentEncoding?.lowercased() ?? ""
      return secretParameters.contains(decoded) ? "\(name)=[redacted]" : String(Substring(pair))
    }
    return pairs.joined(separator: "&")
  }

  /// Returns the kind of credential and the fingerprint of its secret; `nil` for a request without credentials.
  static func credential(fields: HTTPFields, query: String?) -> String? {
    if let authorization = fields[.authorization] {
      return BearerToken.token(in: authorization).map { "bearer:\(fingerprint(of: $0))" }
        ?? "other:\(fingerprint(of: authorization))"
    }
    let field = HTTPField.Name("X-Api-Key").flatMap { fields[$0] }
    guard let key = try? field ?? Query(query)["api_key"] else { return nil }
    return "api_key:\(fingerprint(of: key))"
  }
}
