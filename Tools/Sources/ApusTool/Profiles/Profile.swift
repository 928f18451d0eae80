import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The readable part of stored credentials; contains no secrets.
struct Profile: Sendable, Hashable {
  let name: ProfileName
  /// The only server that gets the credentials.
  let origin: Origin
  let account: Account
  /// The time of the login, in whole seconds.
  let since: Date
  /// The id of the login. Each login has its own folder of credentials, so that no login uses another's credentials.
  let login: String

  /// Creates the profile of a new login.
  init(_ name: ProfileName, origin: Origin, account: Account, since now: Date) {
    self.name = name
    self.origin = origin
    self.account = account
    since = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    login = String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The unique purpose of a secret: profile, login, server and account. The user name is last, because only it may
  /// contain spaces.
  var identity: String {
    "\(name) \(login) \(origin) \(account.scheme)" + (account.user.map { " \($0)" } ?? "")
  }

  /// Whether a text is the id of a login: 16 hexadecimal digits.
  static func isLogin(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
  }
}

// MARK: Coding

extension Profile {
  private struct Written: Codable {
    var origin: String
    var scheme: String
    var user: String?
    /// The time in the format of RFC 3339.
    var since: String
    /// The id of the login, which names the folder of its credentials.
    var credentials: String
  }

  /// Decodes the result of ``json()``, which a user may have edited.
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
      throw Unusable(reason: "origin has an invalid value")
    }
    guard let account = Account(scheme: written.scheme, user: written.user) else {
      throw Unusable(reason: "scheme and user do not match")
    }
    guard let since = try? Date(written.since, strategy: .iso8601) else {
      throw Unusable(reason: "since has an invalid value")
    }
    guard Self.isLogin(written.credentials) else {
      throw Unusable(reason: "credentials has an invalid value")
    }
    self.name = name
    origin = url.origin
    self.account = account
    self.since = since
    login = written.credentials
  }

  /// An invalid profile.
  struct Unusable: Error, Sendable, Hashable {
    /// The reason, as part of a sentence.
    let reason: String
  }

  /// Encodes the profile as formatted JSON.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let written = Written(
      origin: origin.description, scheme: account.scheme, user: account.user, since: since.formatted(.iso8601),
      credentials: login)
    return try encoder.encode(written) + Data("\n".utf8)
  }
}

/// The name of a profile, also used in file names.
struct ProfileName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name.
  let description: String

  /// - Throws: ``PlanError`` for an invalid name.
  init(_ text: String) throws(PlanError) {
    guard Self.isName(text) else {
      let lower = text.lowercased()
      guard lower == text || !Self.isName(lower) else {
        throw PlanError(
          "A profile name must be in lower case, because some file systems ignore case: use "
            + "“\(lower)”.")
      }
      throw PlanError(
        "A profile name has 1 to 64 lower-case letters, digits, “-”, “_” and “.”, and starts with a "
          + "letter, a digit or “_”.")
    }
    description = text
  }

  static func < (first: ProfileName, second: ProfileName) -> Bool { first.description < second.description }

  private static func isName(_ text: String) -> Bool {
    guard (1...64).contains(text.utf8.count), let first = text.first, first != ".", first != "-" else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}

/// The authentication scheme and user of a profile.
enum Account: Sendable, Hashable {
  case bearer
  case basic(user: String)
  case digest(user: String)
  /// Tokens of an authorization server (OAuth 2). The user is a readable name, if the server has identified the user.
  case oauth(user: String?)

  /// Creates the account of a stored profile; `nil` if scheme and user do not match.
  init?(scheme: String, user: String?) {
    switch (scheme, user) {
    case ("bearer", nil): self = .bearer
    case ("basic", let user?) where Self.isUser(user): self = .basic(user: user)
    case ("digest", let user?) where Self.isUser(user): self = .digest(user: user)
    case ("oauth", let user) where user.map({ Self.isName($0) }) ?? true: self = .oauth(user: user)
    default: return nil
    }
  }

  /// The name of the scheme, in lower case.
  var scheme: String {
    switch self {
    case .bearer: "bearer"
    case .basic: "basic"
    case .digest: "digest"
    case .oauth: "oauth"
    }
  }

  /// The user name; `nil` for a token.
  var user: String? {
    switch self {
    case .bearer: nil
    case .basic(let user), .digest(let user): user
    case .oauth(let user): user
    }
  }

  /// The kind of the secret.
  var secretName: String { user == nil ? "token" : "password" }

  /// Whether a text is the name of an account at an authorization server: at most 256 bytes, without control characters.
  static func isName(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }

  /// Whether a text is a valid user name: not empty, without colons, which end it (RFC 7617 §2), and without control
  /// characters.
  static func isUser(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0 != ":" && $0.properties.generalCategory != .control }
  }
}
