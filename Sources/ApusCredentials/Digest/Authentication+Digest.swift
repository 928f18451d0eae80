#if Credentials
  public import ApusCore
  public import ApusMiddleware

  extension Authentication {
    /// A name, and a proof of knowing its password, in `Authorization: Digest` (RFC 7616).
    ///
    /// The first message to a server goes without, and is sent once more when the server asks; later ones carry an answer
    /// at once. See ``DigestScheme`` for what is answered.
    ///
    /// ```swift
    /// let operators = MemoryCredentials(.password(user: "ada", "correct horse"))
    /// var environment = Environment(baseURL: "https://camera.example")
    /// environment.authentication = .digest(operators, allowsMD5: false)
    /// ```
    ///
    /// - Parameters:
    ///   - source: keeps the name and the password.
    ///   - origins: where answers may be sent. Default: the origin of the environment's base URL alone.
    ///   - realm: the part of the server they are for. Default: any.
    ///   - allowsMD5: whether servers are answered that offer nothing stronger than `MD5`. Default: `nil`, over https and
    ///     on this machine alone.
    public static func digest(
      _ source: any CredentialSource, origins: Set<Origin>? = nil, realm: String? = nil, allowsMD5: Bool? = nil
    ) -> Authentication {
      .scheme(DigestScheme(allowsMD5: allowsMD5), source, origins: origins, realm: realm)
    }
  }
#endif
