import Crypto
import Foundation
import HTTPTypes

/// Keeps secrets out of the log.
enum Redaction {
  private static let secretParameters: Set = ["api_key", "access_token", "refresh_token", "token", "password"]

  /// The beginning of a secret's hash: enough to tell two apart, useless to sign in with.
  static func fingerprint(of secret: String) -> String {
    SHA256.hash(data: Data(secret.utf8)).prefix(6).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The query with the values of secret parameters taken out.
  static func query(_ query: String?) -> String? {
    guard let query else { return nil }
    // By bytes: with a combining mark behind it, a sign would be no character of its own.
    let pairs = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { pair -> String in
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return String(Substring(pair)) }
      let name = String(Substring(pair[..<equals]))
      // An escaped name is the same name.
      let decoded = name.removingPercentEncoding?.lowercased() ?? ""
      return secretParameters.contains(decoded) ? "\(name)=[redacted]" : String(Substring(pair))
    }
    return pairs.joined(separator: "&")
  }

  /// What a request identifies itself with.
  static func credential(fields: HTTPFields, query: String?) -> String? {
    if let authorization = fields[.authorization] {
      return BearerToken.token(in: authorization).map { "bearer:\(fingerprint(of: $0))" }
        ?? "other:\(fingerprint(of: authorization))"
    }
    guard let key = try? Query(query)["api_key"] else { return nil }
    return "api_key:\(fingerprint(of: key))"
  }
}
