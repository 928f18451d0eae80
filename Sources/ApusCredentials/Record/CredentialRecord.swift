#if Credentials
  import ApusMiddleware

  /// What is kept outside of memory: credentials or none, whose they are, and since when.
  struct CredentialRecord: Sendable, Hashable {
    var credential: Credential?
    /// Whose they are, where the app has said so.
    var account: String?
    var generation: UInt64
    var principal: UInt64
    /// When the credentials were set: seconds since 1970 by the wall clock, the only one that goes on over a restart.
    var since: Double

    /// What there is where nothing has been kept yet.
    static let empty = CredentialRecord(credential: nil, account: nil, generation: 0, principal: 0, since: 0)

    /// The record after this one.
    ///
    /// - Parameters:
    ///   - credential: the new credentials; `nil`: signed out.
    ///   - now: seconds since 1970.
    ///   - account: whose they are, where the app says so. Default: `nil`.
    func replaced(by credential: Credential?, at now: Double, account: String? = nil) -> CredentialRecord {
      let isSame = account != nil && self.credential != nil && credential != nil && self.account == account
      return CredentialRecord(
        credential: credential, account: credential == nil ? nil : account, generation: generation &+ 1,
        principal: isSame ? principal : principal &+ 1, since: now.isFinite ? now : 0)
    }

    /// The record after this one when its credentials were refreshed: the new ones belong to whom the old ones did.
    func refreshed(to credential: Credential?, at now: Double) -> CredentialRecord {
      var record = replaced(by: credential, at: now)
      if credential != nil { (record.account, record.principal) = (account, principal) }
      return record
    }

    /// The record after this one where somebody else has removed what was kept.
    var lost: CredentialRecord {
      credential == nil ? self : replaced(by: nil, at: since)
    }

    /// The same, counted from a moment: for a place that is new, so that it does not count again what another with its
    /// name has counted before, nor fall behind that.
    ///
    /// The milliseconds stand above 20 random bits, since a clock can be set back: numbers that go up are what those who
    /// saw the old place expect, and the random bits keep two beginnings apart. Most numbers are left to count on.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - random: random bits.
    func counted(from now: Double, random: UInt64) -> CredentialRecord {
      var record = self
      // No number at all, or one that is out of any calendar, begins at 0 or in the year 2109.
      let milliseconds = now > 0 ? UInt64(min(now * 1000, 0x3FF_FFFF_FFFF)) : 0
      let start = milliseconds << 20 | random >> 44
      record.generation = max(generation, start)
      record.principal = max(principal, start)
      return record
    }

    /// How long the access token is still good; `nil`: nobody knows.
    ///
    /// A wall clock that was turned back makes it no younger than new.
    ///
    /// - Parameter now: seconds since 1970.
    func remaining(at now: Double) -> Duration? {
      guard case .tokens(let tokens)? = credential, let lifetime = tokens.lifetime else { return nil }
      let age = now - since
      // What is no number, or more than a duration holds, would trap.
      return lifetime - .seconds(age > 0 ? min(age, 1e10) : 0)
    }
  }
#endif
