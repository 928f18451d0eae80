#if Credentials
  import ApusCore
  import ApusMiddleware

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  extension CredentialRecord {
    /// The record as it is written: JSON, whose members are never renamed.
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
      /// The lifetime: seconds, and attoseconds beside them.
      var seconds: Int64?
      var attoseconds: Int64?
    }

    /// The record's bytes; they hold the secrets as they are.
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
      case nil: break
      }
      return try JSONEncoder().encode(written)
    }

    /// Reads what ``encoded()`` wrote; `nil`: it is something else, or a later version's.
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
        credential = .tokens(Tokens(access: secret, refresh: written.refresh.map { Secret($0) }, lifetime: lifetime))
      default: return nil
      }
    }
  }

  extension Duration {
    /// As far as its parts can be written and read again.
    fileprivate var clamped: Duration {
      let longest = Duration(clampingSeconds: .infinity)
      return min(max(self, .zero - longest), longest)
    }
  }
#endif
