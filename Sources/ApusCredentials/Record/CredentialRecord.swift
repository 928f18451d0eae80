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
  /// The account, if the app has named it.
  var account: String?
  var generation: UInt64
  var principal: UInt64
  /// The time when the credentials were set, in seconds since 1970 by the wall clock, which survives a restart.
  var since: Double

  /// The record of an empty store.
  static let empty = CredentialRecord(credential: nil, account: nil, generation: 0, principal: 0, since: 0)

  /// The record after this one.
  ///
  /// - Parameters:
  ///   - credential: the new credentials; `nil`: signed out.
  ///   - now: seconds since 1970.
  ///   - account: the account, if the app names it. Default: `nil`.
  func replaced(by credential: Credential?, at now: Double, account: String? = nil) -> CredentialRecord {
    let isSame = account != nil && self.credential != nil && credential != nil && self.account == account
    return CredentialRecord(
      credential: credential, account: credential == nil ? nil : account, generation: generation &+ 1,
      principal: isSame ? principal : principal &+ 1, since: now.isFinite ? now : 0)
  }

  /// The record after a refresh. The new credentials are of the same account.
  func refreshed(to credential: Credential?, at now: Double) -> CredentialRecord {
    var record = replaced(by: credential, at: now)
    if credential != nil { (record.account, record.principal) = (account, principal) }
    return record
  }

  /// The record after the stored credentials were removed by other means.
  var lost: CredentialRecord {
    credential == nil ? self : replaced(by: nil, at: since)
  }

  /// The record for a new file or item, with generation and principal derived from the current time: they are never
  /// lower than the numbers of an earlier store with the same name, and do not repeat them.
  ///
  /// The milliseconds are followed by 20 random bits, which keep two starts distinct if the clock was set back. Most
  /// of the range is left for counting.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - random: random bits.
  func counted(from now: Double, random: UInt64) -> CredentialRecord {
    var record = self
    // A time before 1970 counts as 0; a time after the year 2109 counts as that year.
    let milliseconds = now > 0 ? UInt64(min(now * 1000, 0x3FF_FFFF_FFFF)) : 0
    let start = milliseconds << 20 | random >> 44
    record.generation = max(generation, start)
    record.principal = max(principal, start)
    return record
  }

  /// The time for which the access token remains valid; `nil`: unknown.
  ///
  /// A wall clock that was set back does not extend the lifetime.
  ///
  /// - Parameter now: seconds since 1970.
  func remaining(at now: Double) -> Duration? {
    guard case .tokens(let tokens)? = credential, let lifetime = tokens.lifetime else { return nil }
    let age = now - since
    // Without the limit a duration could overflow and trap.
    return lifetime - .seconds(age > 0 ? min(age, 1e10) : 0)
  }
}

extension CredentialRecord {
  /// The stored form: JSON, whose members are never renamed.
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
    /// The lifetime in seconds, and the attoseconds beside them.
    var seconds: Int64?
    var attoseconds: Int64?
    // Records of earlier versions do not have these.
    var scopes: [String]?
    var idToken: String?
    var proofKey: String?
  }

  /// The record as JSON, with the secrets in plain text.
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

  /// Decodes the result of ``encoded()``; `nil`: the bytes are something else, or of a later version.
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
  /// The duration, clamped to the range in which its parts can be written and read again.
  fileprivate var clamped: Duration {
    let longest = Duration(clampingSeconds: .infinity)
    return min(max(self, .zero - longest), longest)
  }
}
