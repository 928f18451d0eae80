import Apus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is known of kept credentials without reading them. Nothing of it is secret.
struct Profile: Sendable, Hashable {
  let name: ProfileName
  /// The only server that is shown the credentials.
  let origin: Origin
  let account: Account
  /// When somebody signed in, in whole seconds.
  let since: Date
  /// Which sign-in it was: its credentials lie apart from those of any other, so that none is ever taken for another's.
  let login: String

  /// A new sign-in.
  init(_ name: ProfileName, origin: Origin, account: Account, since now: Date) {
    self.name = name
    self.origin = origin
    self.account = account
    since = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    login = String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// What one secret is for and nothing else is: profile, sign-in, server and account, the user's name last, since it
  /// alone may hold spaces.
  var identity: String {
    "\(name) \(login) \(origin) \(account.scheme)" + (account.user.map { " \($0)" } ?? "")
  }

  /// Whether a text can tell sign-ins apart: 16 hexadecimal digits.
  static func isLogin(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
  }
}

// MARK: As it is kept

extension Profile {
  private struct Written: Codable {
    var origin: String
    var scheme: String
    var user: String?
    /// RFC 3339.
    var since: String
    /// Which sign-in's.
    var credentials: String
  }

  /// Reads what ``json()`` wrote, also where a person has changed it.
  ///
  /// - Throws: ``Unusable``
  init(_ name: ProfileName, json: Data) throws(Unusable) {
    let written: Written
    do {
      written = try JSONDecoder().decode(Written.self, from: json)
    } catch {
      throw Unusable(reason: DecodingReason.of(error))
    }
    guard let url = try? TargetURL(written.origin), url.target == "/", url.userInformation == nil else {
      throw Unusable(reason: "origin has a value that cannot be used")
    }
    guard let account = Account(scheme: written.scheme, user: written.user) else {
      throw Unusable(reason: "scheme and user do not make an account")
    }
    guard let since = try? Date(written.since, strategy: .iso8601) else {
      throw Unusable(reason: "since has a value that cannot be used")
    }
    guard Self.isLogin(written.credentials) else {
      throw Unusable(reason: "credentials has a value that cannot be used")
    }
    self.name = name
    origin = url.origin
    self.account = account
    self.since = since
    login = written.credentials
  }

  /// A text that holds no profile.
  struct Unusable: Error, Sendable, Hashable {
    /// Why, as half a sentence.
    let reason: String
  }

  /// As it is kept: a few lines that a person can read.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let written = Written(
      origin: origin.description, scheme: account.scheme, user: account.user, since: since.formatted(.iso8601),
      credentials: login)
    return try encoder.encode(written) + Data("\n".utf8)
  }
}
