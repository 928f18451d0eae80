import ApusCore
import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored content of a durable store: the credentials, their account and the time when they were set.
struct CredentialRecord: Sendable, Hashable {
  var credential: Credential?
  /// The name of the account, if the app has set a name.
  var account: String?
  var generation: UInt64
  var principal: UInt64
  /// The time at which the credentials were set, in seconds since 1970 by the wall clock, because the wall clock
  /// survives a restart.
  var since: Double

  /// The record of an empty store.
  static let empty = CredentialRecord(credential: nil, account: nil, generation: 0, principal: 0, since: 0)

  /// Returns the record after a sign-in or sign-out.
  ///
  /// - Parameters:
  ///   - credential: the new credentials; `nil` after a sign-out.
  ///   - now: seconds since 1970.
  ///   - account: the name of the account, if the app sets a name. Default: `nil`.
  func replaced(by credential: Credential?, at now: Double, account: String? = nil) -> CredentialRecord {
    let isSame = account != nil && self.credential != nil && credential != nil && self.account == account
    return CredentialRecord(
      credential: credential, account: credential == nil ? nil : account, generation: generation &+ 1,
      principal: isSame ? principal : principal &+ 1, since: now.isFinite ? now : 0)
  }

  /// Returns the record after a refresh. The new credentials belong to the same account.
  func refreshed(to credential: Credential?, at now: Double) -> CredentialRecord {
    var record = replaced(by: credential, at: now)
    if credential != nil { (record.account, record.principal) = (account, principal) }
    return record
  }

  /// The record after another program has removed the stored credentials.
  var lost: CredentialRecord {
    credential == nil ? self : replaced(by: nil, at: since)
  }

  /// Returns the record for a new file or item, with generation and principal derived from the current time: they
  /// exceed the numbers of an earlier store with the same name, and do not repeat them.
  ///
  /// The milliseconds are followed by 20 random bits, which make two starts distinct if the clock was set back. Most of
  /// the range is left for counting.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - random: random bits.
  func counted(from now: Double, random: UInt64) -> CredentialRecord {
    var record = self
    // A time before 1970 is treated as 0, and a time after the year 2109 as that year.
    let milliseconds = now > 0 ? UInt64(min(now * 1000, 0x3FF_FFFF_FFFF)) : 0
    let start = milliseconds << 20 | random >> 44
    record.generation = max(generation, start)
    record.principal = max(principal, start)
    return record
  }

  /// Returns the time for which the access token remains valid; `nil` if the time is unknown.
  ///
  /// A wall clock that was set back does not extend the lifetime.
  ///
  /// - Parameter now: seconds since 1970.
  func remaining(at now: Double) -> Duration? {
    guard case .tokens(let tokens)? = credential, let lifetime = tokens.lifetime else { return nil }
    let age = now - since
    // Limits the age, because a duration could overflow and trap.
    return lifetime - .seconds(age > 0 ? min(age, 1e10) : 0)
  }
}

extension CredentialRecord {
  /// The stored form, JSON. Do not rename its members.
  private struct Written: Codable {
    enum Kind: String, Codable {
      case none, token, tokens, password
    }

    var version = 1
    var generation: UInt64
    var principal: UInt64
    var since: Double
    var kind: Kind
    var account: String?
    /// The token, the access token or the password.
    var secret: String?
    var refresh: String?
    var user: String?
    /// The lifetime in seconds, and its fraction in attoseconds.
    var seconds: Int64?
    var attoseconds: Int64?
    // Members that records of earlier versions do not have.
    var scopes: [String]?
    var idToken: String?
    var proofKey: String?
  }

  /// Returns the record as JSON, with the secrets in plain text.
  func encoded() throws -> Data {
    var written = Written(
      generation: generation, principal: principal, since: since, kind: .none, account: account)
    switch credential {
    case .token(let token)?:
      written.kind = .token
      written.secret = token.value
    case .password(let user, let password)?:
      written.kind = .password
      written.user = user
      written.secret = password.value
    case .tokens(let tokens)?:
      written.kind = .tokens
      written.secret = tokens.access.value
      written.refresh = tokens.refresh?.value
      written.seconds = tokens.lifetime?.clamped.components.seconds
      written.attoseconds = tokens.lifetime?.clamped.components.attoseconds
      written.scopes = tokens.scopes
      written.idToken = tokens.idToken?.value
      written.proofKey = tokens.proofKey?.value
    case nil: break
    }
    return try JSONEncoder().encode(written)
  }

  /// Decodes the result of ``encoded()``. Returns `nil` if the bytes have another format or a later version.
  init?(_ bytes: Data) {
    guard let written = try? JSONDecoder().decode(Written.self, from: bytes), written.version == 1 else { return nil }
    self.init(
      credential: nil, account: written.account, generation: written.generation, principal: written.principal,
      since: written.since)
    let secret = written.secret.map { Secret($0) }
    switch (written.kind, secret) {
    case (.none, _): break
    case (.token, let secret?): credential = .token(secret)
    case (.password, let secret?):
      guard let user = written.user else { return nil }
      credential = .password(user: user, secret)
    case (.tokens, let secret?):
      var lifetime: Duration?
      if let seconds = written.seconds {
        lifetime = Duration(secondsComponent: seconds, attosecondsComponent: written.attoseconds ?? 0).clamped
      }
      var tokens = Tokens(access: secret, refresh: written.refresh.map { Secret($0) }, lifetime: lifetime)
      tokens.scopes = written.scopes
      tokens.idToken = written.idToken.map { Secret($0) }
      tokens.proofKey = written.proofKey.map { Secret($0) }
      credential = .tokens(tokens)
    default: return nil
    }
  }
}

extension Duration {
  /// The duration, limited to the range in which its parts can be encoded and decoded again.
  fileprivate var clamped: Duration {
    let longest = Duration(clampingSeconds: .infinity)
    return min(max(self, .zero - longest), longest)
  }
}
