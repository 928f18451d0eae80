import ApusMiddleware
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content of a cookie file: the cookies of one account.
struct CookieRecord: Sendable {
  /// A hash of the account, because the account may be a name or an address.
  let account: String
  let cookies: SavedCookies

  init(_ cookies: SavedCookies, ofAccountHash account: String) {
    (self.account, self.cookies) = (account, cookies)
  }

  /// Returns the hash of an account, in hexadecimal digits.
  static func hash(ofAccount account: String) -> String {
    SHA256.hash(data: Data(("cookies\0" + account).utf8)).prefix(16)
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension CookieRecord {
  /// The stored form, JSON. Do not rename its members.
  private struct Written: Codable {
    var kind = "cookies"
    var version = 1
    var account: String
    var cookies: SavedCookies
  }

  /// Returns the record as JSON, with the cookies in plain text.
  func encoded() throws -> Data {
    try JSONEncoder().encode(Written(account: account, cookies: cookies))
  }

  /// Decodes the result of ``encoded()``. Returns `nil` if the bytes have another format or a later version.
  init?(_ bytes: Data) {
    guard let written = try? JSONDecoder().decode(Written.self, from: bytes), written.kind == "cookies",
      written.version == 1
    else { return nil }
    self.init(written.cookies, ofAccountHash: written.account)
  }
}
