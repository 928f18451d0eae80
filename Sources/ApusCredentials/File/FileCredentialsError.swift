#if Credentials
  public import ApusCore

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// The reason why credentials could not be read from a file or written to it. It contains nothing of the file's
  /// content.
  public struct FileCredentialsError: LoggableError, Sendable, Hashable {
    /// The kinds of reasons.
    public enum Reason: Sendable, Hashable {
      /// A system call failed; ``FileCredentialsError/number`` says why.
      case system
      /// The path leads to a symbolic link, a folder or something else that is no file.
      case notAFile
      /// The file belongs to another user than that of the process.
      case foreignOwner
      /// The permissions let other users read, write or list it.
      case othersHaveAccess
      /// The file is larger than any credentials file.
      case tooLarge
      /// The file was not written by ``FileCredentials``, or by a later version.
      case unknownFormat
      /// The key does not fit or the file is damaged; AES-GCM does not tell which.
      case sealed
      /// The file is sealed with a passphrase and a key file was given, or the other way round.
      case otherKind
      /// There is a sealed file, but no key file.
      case keyMissing
      /// The key file does not hold 32 bytes in Base64.
      case malformedKey
      /// The key file has the path of the credentials file or of a file beside it.
      case keyAmongCredentials
    }

    /// The kind of reason.
    public let reason: Reason
    /// The last component of the path of the file or folder.
    public let file: String
    /// The system's error number (`errno`); `nil`: no system call failed.
    public let number: Int32?
    /// What the system was asked to do, as a participle.
    private let step: String

    init(_ reason: Reason, _ file: String) {
      self.init(reason, file, step: "", number: nil)
    }

    private init(_ reason: Reason, _ file: String, step: String, number: Int32?) {
      self.reason = reason
      self.file = file
      self.step = step
      self.number = number
    }

    /// The failure of a system call.
    static func system(_ number: Int32, _ step: String, _ file: String) -> FileCredentialsError {
      FileCredentialsError(.system, file, step: step, number: number)
    }
  }

  extension FileCredentialsError {
    /// The file's name, what is wrong with it and what to do, for logs and in a call's error.
    public var description: String {
      switch reason {
      case .system: "\(file) cannot be \(step): \(number.map { String(cString: strerror($0)) } ?? "no reason")"
      case .notAFile: "\(file) is not a file: remove it"
      case .foreignOwner: "\(file) belongs to another user: run as its owner, or remove it"
      case .othersHaveAccess:
        "\(file) is accessible to others: make it private, a folder with chmod 700 and a file with chmod 600"
      case .tooLarge: "\(file) is too large for a credentials file: remove it"
      case .unknownFormat: "\(file) is not a credentials file, or one of a later version: update, or remove it"
      case .sealed: "\(file) cannot be read: the key does not fit or the file is damaged"
      case .otherKind: "\(file) is sealed with another kind of key: pass the passphrase, or the key file"
      case .keyMissing: "\(file), the key of the credentials, is missing: restore it, or sign in again"
      case .malformedKey: "\(file) does not hold a key: restore it, or remove it and sign in again"
      case .keyAmongCredentials: "\(file) cannot be the key file: the credentials use that name themselves"
      }
    }
  }
#endif
