import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What tells the calls of different accounts and sessions apart, besides their URL. A pure value.
///
/// It is built from the message as it is at the slot of the cache: credentials that are added further in belong to the
/// call's principal.
struct CacheSession {
  /// The digest of everything that was found.
  private var hasher: KeyedHasher
  /// The digest of the credentials of the environment, by which a change of the account is noticed.
  private var accountHasher: KeyedHasher
  /// Whether the message has credentials of any kind.
  private(set) var hasCredentials = false
  /// Whether the message has credentials of the environment.
  private(set) var hasAccount = false
  /// The names of fields with secrets, in lower case.
  private(set) var secretNames: Set<String> = []
  /// Whether the principals of this process are part of the digest. In a folder the account takes their place.
  private let namesPrincipals: Bool

  private enum Kind: UInt64 {
    case fixed = 1
    case principal = 2
    case account = 3
    case field = 4
    case jar = 5
    case content = 6
  }

  /// - Parameters:
  ///   - key: the key of the digests.
  ///   - namesPrincipals: whether the principals of this process are part of the digest.
  init(_ key: DigestKey, namesPrincipals: Bool) {
    hasher = KeyedHasher(key)
    accountHasher = KeyedHasher(key)
    self.namesPrincipals = namesPrincipals
  }

  /// The digest of everything that was added.
  var digest: KeyedDigest {
    var hasher = hasher
    return hasher.finish()
  }

  /// A number for the credentials of the environment.
  var accountNumber: UInt64 {
    var hasher = accountHasher
    return hasher.finish().first
  }

  /// Adds the credentials to which a call is bound.
  ///
  /// A credential that does not change is part of the digest itself, so that an account with two keys has two sessions
  /// also in a later process.
  mutating func add(_ identities: [CredentialIdentity]) {
    guard !identities.isEmpty else { return }
    (hasCredentials, hasAccount) = (true, true)
    for identity in identities {
      switch identity {
      case .fixed(let credential):
        hasher.combine(Kind.fixed.rawValue)
        hasher.combine(credential)
        accountHasher.combine(Kind.fixed.rawValue)
        accountHasher.combine(credential)
      case .session(let store, let principal):
        hasher.combine(namesPrincipals ? Kind.principal.rawValue : Kind.account.rawValue)
        if namesPrincipals {
          hasher.combine(store)
          hasher.combine(principal)
        }
        accountHasher.combine(store)
        accountHasher.combine(principal)
      }
    }
  }

  /// Adds the fields of a request that contain secrets.
  mutating func add(_ fields: HTTPFields) {
    for field in fields where Self.isSecret(field) {
      hasCredentials = true
      secretNames.insert(field.name.canonicalName)
      hasher.combine(Kind.field.rawValue)
      hasher.combine(field.name.canonicalName)
      field.withUnsafeBytesOfValue { hasher.combine(UnsafeRawBufferPointer($0)) }
    }
  }

  /// Adds the session of a cookie jar.
  ///
  /// - Parameter hasCookies: whether the jar has cookies for the request.
  mutating func add(jar number: UInt64, hasCookies: Bool) {
    hasher.combine(Kind.jar.rawValue)
    hasher.combine(number)
    if hasCookies {
      hasCredentials = true
      secretNames.insert("cookie")
    }
  }

  /// Adds a query, whose parameters are part of the URL. Only their names matter here.
  mutating func add(query target: String) {
    guard !hasCredentials, let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return }
    let query = target.utf8[target.utf8.index(after: mark)...]
    hasCredentials = query.split(separator: UInt8(ascii: "&")).contains { item in
      RevealingWords.mark(field: item.prefix { $0 != UInt8(ascii: "=") })
    }
  }

  /// Adds the content of a QUERY, which selects the response as a URL does (RFC 10008 §2).
  ///
  /// - Returns: `false` if the content cannot be read here.
  mutating func add(_ content: MessageContent, type: String?) -> Bool {
    hasher.combine(Kind.content.rawValue)
    hasher.combine(type ?? "")
    switch content {
    case .empty: return true
    case .bytes(let data):
      data.withUnsafeBytes { hasher.combine($0) }
      return true
    case .file, .stream, .joined: return false
    }
  }

  // MARK: Secrets

  /// Whether a field contains a secret: it is marked, or its name says so.
  static func isSecret(_ field: HTTPField) -> Bool {
    if field.indexingStrategy == .disallow { return true }
    let name = field.name.canonicalName
    // Most names are told apart by their length, which costs less than reading their words.
    switch name.utf8.count {
    case 6 where name == "accept" || name == "cookie": return name == "cookie"
    case 10 where name == "user-agent": return false
    case 12 where name == "content-type": return false
    case 13 where name == "cache-control" || name == "if-none-match" || name == "authorization":
      return name == "authorization"
    case 15 where name == "accept-language" || name == "accept-encoding": return false
    case 17 where name == "if-modified-since": return false
    default: return RevealingWords.mark(field: field.name.rawName.utf8)
    }
  }
}

extension KeyedHasher {
  fileprivate mutating func combine(_ credential: Credential) {
    switch credential {
    case .token(let token):
      combine("token")
      combine(token.value)
    case .tokens(let tokens):
      combine("tokens")
      combine(tokens.access.value)
    case .password(let user, let password):
      combine("password")
      combine(user)
      combine(password.value)
    }
  }
}
