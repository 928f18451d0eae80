#if Credentials
  public import ApusCore

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Why credentials could not be read from a file, or kept in it. It holds nothing of what is in the file.
  public struct FileCredentialsError: LoggableError, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
      /// The system refused a step; its number says why.
      case system
      /// In its place is a symbolic link, a folder or something else that is no file.
      case notAFile
      /// It belongs to another user than the one the process runs as.
      case foreignOwner
      /// Its permissions let others read, write or list it.
      case othersHaveAccess
      /// It is longer than anything that is kept there.
      case tooLarge
      /// It was not written by ``FileCredentials``, or by a later version.
      case unknownFormat
      /// The key does not fit or the file is damaged; nobody can tell which.
      case sealed
      /// It is sealed with a passphrase and there is a key file, or the other way round.
      case otherKind
      /// There is a sealed file and no key file any more.
      case keyMissing
      /// The key file does not hold 32 bytes in Base64.
      case malformedKey
      /// The key file's path is that of the credentials, or of a file that stands beside them: one would overwrite the
      /// other.
      case keyAmongCredentials
    }

    /// What is wrong.
    public let reason: Reason
    /// The last component of the path of the file or folder.
    public let file: String
    /// The system's number for its refusal (`errno`); `nil`: it was not the system.
    public let number: Int32?
    /// What the system was asked to do, as in "cannot be opened".
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

    /// The system's refusal of a step.
    static func system(_ number: Int32, _ step: String, _ file: String) -> FileCredentialsError {
      FileCredentialsError(.system, file, step: step, number: number)
    }
  }

  extension FileCredentialsError {
    /// For logs: the file's name, what is wrong with it and what to do. A call's error says the same.
    public var description: String {
      switch reason {
      case .system: "\(file) cannot be \(step): \(number.map { String(cString: strerror($0)) } ?? "no reason")"
      case .notAFile: "\(file) is no file: remove it"
      case .foreignOwner: "\(file) belongs to another user: run as its owner, or remove it"
      case .othersHaveAccess:
        "\(file) lets others in: make it private, a folder by chmod 700 and a file by chmod 600"
      case .tooLarge: "\(file) is too large for credentials: remove it"
      case .unknownFormat: "\(file) is no file of credentials, or one of a later version: update, or remove it"
      case .sealed: "\(file) cannot be read: the key does not fit or the file is damaged"
      case .otherKind: "\(file) is sealed with another kind of key: give the passphrase, or the key file"
      case .keyMissing: "\(file) is missing, with which the credentials are sealed: restore it, or sign in again"
      case .malformedKey: "\(file) does not hold a key: restore it, or remove it and sign in again"
      case .keyAmongCredentials: "\(file) cannot be the key file: the credentials need that name themselves"
      }
    }
  }
#endif
