import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A digest of the credentials and the session of a call, by which the calls of different accounts are told apart. A pure
/// value.
///
/// It is built from the message as it is at the slot of the cache: credentials that are added further in belong to the
/// call's principal.
struct CacheSession {
  private let key: DigestKey
  /// The digest of everything that was found; `nil`: nothing, as for most public resources.
  private var hasher: KeyedHasher?
  /// The digest of the credentials of the environment, by which a change of the account is noticed.
  private var accountHasher: KeyedHasher?
  /// Whether the message has credentials of any kind.
  private(set) var hasCredentials = false
  /// Whether the message has no field that concerns caches, and nothing tells its call apart from others.
  private(set) var isPlain = true
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
    (self.key, self.namesPrincipals) = (key, namesPrincipals)
  }

  /// The digest if nothing was added.
  static let noDigest = KeyedDigest(first: 0, second: 0)

  /// The digest of everything that was added.
  var digest: KeyedDigest {
    guard var hasher else { return Self.noDigest }
    return hasher.finish()
  }

  /// Whether the message has credentials of the environment.
  var hasAccount: Bool { accountHasher != nil }

  /// A number for the credentials of the environment.
  var accountNumber: UInt64 {
    guard var accountHasher else { return 0 }
    return accountHasher.finish().first
  }

  /// Adds to the digest.
  private mutating func add(_ kind: Kind, _ change: (inout KeyedHasher) -> Void = { _ in }) {
    var hasher = hasher ?? KeyedHasher(key)
    hasher.combine(kind.rawValue)
    change(&hasher)
    self.hasher = hasher
    isPlain = false
  }

  /// Adds the credentials to which a call is bound.
  ///
  /// A credential that does not change is part of the digest itself, so that an account with two keys has two sessions
  /// also in a later process.
  mutating func add(_ identities: [CredentialIdentity]) {
    guard !identities.isEmpty else { return }
    hasCredentials = true
    var account: KeyedHasher?
    for identity in identities {
      switch identity {
      case .fixed(let credential):
        add(.fixed) { $0.combine(credential) }
      case .session(let store, let principal):
        var hasher = account ?? KeyedHasher(key)
        hasher.combine(store)
        hasher.combine(principal)
        account = hasher
        guard namesPrincipals else {
          add(.account)
          continue
        }
        add(.principal) {
          $0.combine(store)
          $0.combine(principal)
        }
      }
    }
    if let account { accountHasher = account }
  }

  /// Adds the credentials themselves, in a process in which the account had several.
  ///
  /// - Parameter run: a random number of the process.
  mutating func add(run: UInt64) {
    let number = accountNumber
    add(.principal) {
      $0.combine(run)
      $0.combine(number)
    }
  }

  /// Adds the fields of a request that contain secrets, and notes whether fields concern caches.
  mutating func add(_ fields: HTTPFields) {
    for field in fields {
      switch Self.concern(of: field) {
      case .none: break
      case .cache: isPlain = false
      case .secret:
        hasCredentials = true
        secretNames.insert(field.name.canonicalName)
        add(.field) { hasher in
          hasher.combine(field.name.canonicalName)
          field.withUnsafeBytesOfValue { hasher.combine(UnsafeRawBufferPointer($0)) }
        }
      }
    }
  }

  /// Adds the session of a cookie jar.
  ///
  /// - Parameter hasCookies: whether the jar has cookies for the request.
  mutating func add(jar number: UInt64, hasCookies: Bool) {
    add(.jar) { $0.combine(number) }
    if hasCookies {
      hasCredentials = true
      secretNames.insert("cookie")
    }
  }

  /// Adds a query, whose parameters are part of the URL. Only their names matter here.
  mutating func add(query target: String) {
    hasCredentials = hasCredentials || Self.hasCredentials(inQuery: target)
  }

  /// Whether the query of a target has a parameter whose name says that its value is a secret.
  static func hasCredentials(inQuery target: String) -> Bool {
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return false }
    let query = target.utf8[target.utf8.index(after: mark)...]
    return query.split(separator: UInt8(ascii: "&")).contains { item in
      RevealingWords.mark(field: item.prefix { $0 != UInt8(ascii: "=") })
    }
  }

  /// Adds the content of a QUERY, which selects the response as a URL does (RFC 10008 §2).
  ///
  /// - Returns: `false` if the content cannot be read here.
  mutating func add(_ content: MessageContent, type: String?) -> Bool {
    switch content {
    case .empty: add(.content) { $0.combine(type ?? "") }
    case .bytes(let data):
      add(.content) { hasher in
        hasher.combine(type ?? "")
        data.withUnsafeBytes { hasher.combine($0) }
      }
    case .file, .stream, .joined: return false
    }
    return true
  }

  // MARK: Fields

  private enum Concern {
    case none
    /// The field is a condition, a range or a directive for caches.
    case cache
    /// The field contains a secret: it is marked, or its name says so.
    case secret
  }

  /// Whether no field concerns caches or contains a secret.
  static func isPlain(_ fields: HTTPFields) -> Bool { fields.allSatisfy { concern(of: $0) == .none } }

  /// Whether a field contains a secret: it is marked, or its name says so.
  static func isSecret(_ field: HTTPField) -> Bool { concern(of: field) == .secret }

  private static func concern(of field: HTTPField) -> Concern {
    if field.indexingStrategy == .disallow { return .secret }
    let name = field.name.canonicalName
    // Most names are told apart by their length, which costs less than reading their words.
    switch name.utf8.count {
    case 5 where name == "range": return .cache
    case 6 where name == "accept": return .none
    case 6 where name == "pragma": return .cache
    case 8 where name == "if-match" || name == "if-range": return .cache
    case 10 where name == "user-agent": return .none
    case 13 where name == "cache-control" || name == "if-none-match": return .cache
    case 15 where name == "accept-language" || name == "accept-encoding": return .none
    case 17 where name == "if-modified-since": return .cache
    case 19 where name == "if-unmodified-since": return .cache
    default: return RevealingWords.mark(field: field.name.rawName.utf8) ? .secret : .none
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
