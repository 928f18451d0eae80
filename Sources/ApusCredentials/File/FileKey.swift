#if Credentials
  public import ApusMiddleware

  /// What a file of credentials is sealed with.
  public struct FileKey: Sendable {
    enum Kind: Sendable {
      case file(FilePlace)
      case passphrase(Secret)
    }

    let kind: Kind

    /// A key of 256 bits in a file of its own, in Base64.
    ///
    /// Where there is none it is made at random when the first credentials are kept, with the mode 600; of several
    /// processes that make it at once one wins, and all use its key. A file that others can read is refused. Keep it out
    /// of what is copied with the credentials' file, such as a backup: who has both has the credentials. It is read again
    /// whenever something is kept.
    ///
    /// - Parameter path: where; folders that are missing are made with the mode 700.
    public static func file(_ path: String) -> FileKey {
      FileKey(kind: .file(FilePlace(path)))
    }

    /// A passphrase, from which the key is derived: PBKDF2 with HMAC-SHA-256 (RFC 8018 §5.2), 600,000 rounds and a random
    /// salt for each file.
    ///
    /// That takes most of a second of processor time, once in a process.
    public static func passphrase(_ passphrase: Secret) -> FileKey {
      FileKey(kind: .passphrase(passphrase))
    }
  }

  extension FileKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind alone.
    public var description: String {
      switch kind {
      case .file: "key file"
      case .passphrase: "passphrase ██"
      }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif
