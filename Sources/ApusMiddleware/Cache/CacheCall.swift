import ApusCore
import HTTPTypes

/// The key of a call whose response may be stored, and what the cache has found in its message.
struct CacheCall: Sendable {
  let key: CacheKey
  let origin: Origin
  /// Whether the message has no field that concerns caches, and no secret.
  let isPlain: Bool
  /// Whether what is stored for the account belongs to other credentials.
  var removesAccount = false
  /// The value of `Cookie` that the jar of the environment adds further in.
  var cookies: String?
  /// Replaces the values of fields with secrets in what is stored; `nil` if the message has none.
  var seal: CacheVariant.Seal?
}

extension CacheCall {
  /// - Returns: `nil` if the response is not stored: the credentials of the call are unknown, or a folder without an
  ///   account must not store them.
  init?(_ message: RequestMessage, _ context: CallContext, of cache: ResponseCache, _ subjects: CacheSubjects) {
    guard let origin = context.origin(of: message) else { return nil }
    var session = CacheSession(subjects.key, namesPrincipals: !cache.store.outlivesProcess)
    guard session.add(context) else { return nil }
    session.add(message.head.headerFields)
    let cookies = session.addCookies(of: message, context)
    guard session.add(message) else { return nil }
    var account: UInt64?
    if cache.store.outlivesProcess {
      session.add(query: message.target)
      if session.hasCredentials {
        account = cache.accountTag(subjects)
        guard account != nil else { return nil }
      }
      if session.hasAccount {
        let binding = cache.bind(session.accountNumber, in: context.environment)
        removesAccount = binding.isOther
        if let run = binding.run { session.add(run: run) }
      }
    } else if session.hasCredentials {
      // In memory the session says whose response it is.
      account = 1
    }
    key = CacheKey(target: subjects.target(message.target, at: origin), account: account, session: session.digest)
    self.origin = origin
    self.cookies = cookies
    isPlain = session.isPlain && cookies == nil
    seal = session.seal(subjects.key)
  }
}

extension CacheSession {
  /// Adds the credentials to which a call is bound. Returns `false` if they are unknown.
  fileprivate mutating func add(_ context: CallContext) -> Bool {
    guard let principals = context.values[BoundPrincipalsKey.self] else { return context.principal == nil }
    guard let identities = principals.identities else { return false }
    add(identities)
    return true
  }

  /// Adds the session of the environment's jar. Returns the cookies that it adds to the message.
  fileprivate mutating func addCookies(of message: RequestMessage, _ context: CallContext) -> String? {
    guard let jar = context.environment.cookies else { return nil }
    let cookies = CookieTarget(of: message, context, in: jar).flatMap { jar.cookies(for: $0).cookies.fieldValue }
    let bound = context.values[CookieJarNumberKey.self]
    add(jar: bound == 0 ? jar.number : bound, hasCookies: cookies != nil)
    return cookies.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Adds the content of a message. Returns `false` if it cannot be part of a key.
  fileprivate mutating func add(_ message: RequestMessage) -> Bool {
    guard message.head.method.rawValue == "QUERY" else { return message.content.isEmpty }
    return add(message.content, type: message.head.headerFields[.contentType])
  }

  /// Returns the function that replaces the values of fields with secrets by digests; `nil` if there are none.
  fileprivate func seal(_ key: DigestKey) -> CacheVariant.Seal? {
    guard !secretNames.isEmpty else { return nil }
    return { [secretNames] name, value in
      guard secretNames.contains(name) else { return value }
      var hasher = KeyedHasher(key)
      hasher.combine(value)
      let digest = hasher.finish()
      return String(digest.first, radix: 16) + "-" + String(digest.second, radix: 16)
    }
  }
}
