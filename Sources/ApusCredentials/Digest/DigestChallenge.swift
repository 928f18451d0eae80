#if Credentials
  import ApusMiddleware

  /// A digest challenge that can be answered (RFC 7616 §3.3).
  struct DigestChallenge {
    let algorithm: DigestAlgorithm
    /// The algorithm as the server wrote it; `nil`: it named none, and is told none.
    let algorithmName: String?
    let realm: String
    let nonce: String
    let opaque: String?
    /// Whether the server asks for the protection `auth`.
    let isProtected: Bool
    /// Whether it wants users' names hashed.
    let hashesUser: Bool
    /// Whether it says that it takes names in UTF-8.
    let takesUTF8: Bool

    /// Reads a challenge; `nil` where it cannot be answered.
    ///
    /// Without a protection there is no nonce of the client's. That is answered with `MD5` alone, as in RFC 2069: servers
    /// that know a better algorithm know of protections too.
    init?(_ challenge: Challenge, allowsMD5: Bool) {
      guard challenge.asks(for: "Digest"), let realm = challenge.realm, let nonce = challenge["nonce"],
        let algorithm = DigestAlgorithm(named: challenge["algorithm"]), allowsMD5 || !algorithm.isMD5
      else { return nil }
      if let protections = challenge["qop"] {
        guard Self.words(protections).contains("auth") else { return nil }
        isProtected = true
      } else {
        guard algorithm == .md5 else { return nil }
        isProtected = false
      }
      self.algorithm = algorithm
      algorithmName = challenge["algorithm"]
      self.realm = realm
      self.nonce = nonce
      opaque = challenge["opaque"]
      hashesUser = challenge["userhash"]?.lowercased() == "true"
      takesUTF8 = challenge["charset"]?.lowercased() == "utf-8"
    }

    /// The higher, the harder it is to find the password from an answer.
    var strength: Int {
      if !algorithm.isMD5 { return 3 }
      return isProtected ? 2 : 1
    }

    private static func words(_ list: String) -> [String] {
      list.lowercased().utf8.split { ", \t".utf8.contains($0) }.map { String(Substring($0)) }
    }
  }
#endif
