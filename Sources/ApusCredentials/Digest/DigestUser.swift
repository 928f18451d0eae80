#if Credentials
  import ApusCore
  import ApusMiddleware

  /// How a user's name is shown (RFC 7616 §3.4, §3.4.4).
  enum DigestUser {
    /// Between quotes: what is in ASCII, and everything where the server does not say that it knows another notation.
    case plain(String)
    /// In the extended notation, since quotes are for ASCII.
    case extended(String)
    /// Hashed, since the server asks for that.
    case hashed(String)

    /// Checks a name and a password.
    ///
    /// - Throws: `TransportError` that says what is wrong and contains neither.
    init(_ user: String, password: Secret, for challenge: DigestChallenge) throws {
      guard !Self.hasControls(user), !Self.hasControls(password.value) else {
        throw Self.fault("the user name or the password holds a control character")
      }
      if challenge.hashesUser {
        self = .hashed(user)
      } else if challenge.takesUTF8, user.utf8.contains(where: { $0 >= 0x80 }) {
        self = .extended(user)
      } else {
        self = .plain(user)
      }
    }

    /// Writes the name.
    func write(to text: inout DigestText, _ computation: DigestComputation) {
      switch self {
      case .plain(let user): text.add("username", quoting: user)
      case .extended(let user): text.add("username*", DigestText.extended(user))
      case .hashed(let user):
        text.add("username", quoting: computation.userHash(user))
        text.add("userhash", "true")
      }
    }

    /// Credentials that cannot be shown.
    static func fault(_ detail: String) -> TransportError {
      TransportError(.unsupported, requestState: .notSent, detail: detail)
    }

    private static func hasControls(_ text: String) -> Bool {
      text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
  }
#endif
