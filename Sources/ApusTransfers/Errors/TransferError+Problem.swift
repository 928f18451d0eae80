extension TransferError {
  /// The exact problem. Apps read its ``reason`` and its text.
  package enum Problem: Sendable, Hashable {
    /// The exchange failed: the connection was lost, a deadline passed, the call was cancelled or the server rejected
    /// it. The error's code states the cause.
    case interrupted
    /// The target exists, and the options do not permit to replace it.
    case fileExists
    /// The target is a folder.
    case isFolder
    /// The target, or a file beside it that the transfer needs, is a symbolic link, a pipe or a device, or belongs to
    /// another user.
    case notAFile
    /// The folder of the file does not exist.
    case folderMissing
    /// The path is empty, ends with a slash, contains a zero byte or is too long.
    case invalidPath
    /// Another transfer, in this or another process, uses the file.
    case inUse
    /// The process may not write the file, or access its folder.
    case permissionDenied
    /// The file to read does not exist.
    case fileMissing
    /// The process may not read the file.
    case fileUnreadable
    /// The file system is read-only.
    case readOnlyFileSystem
    /// The disk or the user's quota is full, or has less free space than the rest of the file needs.
    case diskFull
    /// A system call failed with this error number (`errno`).
    case system(Int32)
    /// The content (body) does not have the expected digest, and was removed.
    case digestMismatch
    /// The text of a digest is neither hexadecimal nor Base64 of the algorithm's length.
    case invalidDigest
    /// The response has a status without content, for example 204.
    case unexpectedStatus(Int)
    /// The server sent an unrequested part of the file, or sent the file in very small parts (RFC 9110 §14).
    case unusableRange
    /// The server sent more or fewer bytes than it had announced.
    case wrongLength
    /// The file on the server changed each time the transfer continued.
    case unstable
    /// The transport decoded the content, so its bytes differ from the bytes of the file on the server. Content with a
    /// coding that the transport does not decode is saved as it was sent.
    case contentCoded
    /// The file is larger than ``DownloadOptions/maximumSize``, or than the content limit of the endpoint.
    case fileTooLarge(maximum: Int64)
    /// The length of the content to upload is not known beforehand, for example because it is compressed while it is
    /// sent.
    case unknownLength
    /// The content to upload can be read only once.
    case notReplayable
    /// The file to upload was changed.
    case contentChanged
    /// A key of an upload's metadata is empty or contains a space, a comma or a character beyond ASCII.
    case invalidMetadata
    /// The server accepts no content of more than this number of bytes.
    case contentTooLarge(limit: Int64)
    /// The server accepts no content of less than this number of bytes.
    case contentTooSmall(minimum: Int64)
    /// The server created an upload without stating its URL.
    case noLocation
    /// The server stated an offset or a length that contradicts the upload.
    case unusableOffset
    /// The server no longer has the upload. The server may have received all content earlier.
    case uploadGone
    /// The server has all content, but its response was lost. The endpoint's value cannot be read without the response.
    case responseLost
    /// The endpoint of a stored transfer cannot be encoded or decoded, is too large, or is of a type that the queue's
    /// configuration does not declare.
    case unusableEndpoint
    /// The queue has no transfer with this identifier: the transfer is complete, cancelled, of another account or in
    /// another process.
    case unknownTransfer
    /// The queue of transfers was closed.
    case closed
    /// The client has credentials, but the queue of transfers has no account.
    case accountMissing

    /// The kind of reason.
    var reason: Reason {
      switch self {
      case .interrupted: .interrupted
      case .fileExists: .fileExists
      case .isFolder, .notAFile, .folderMissing, .invalidPath: .invalidPath
      case .inUse: .inUse
      case .permissionDenied, .readOnlyFileSystem: .permissionDenied
      case .diskFull: .diskFull
      case .system: .fileSystem
      case .fileMissing, .fileUnreadable, .contentChanged: .fileUnreadable
      case .digestMismatch: .digestMismatch
      case .fileTooLarge, .contentTooLarge, .contentTooSmall: .sizeLimit
      case .unexpectedStatus, .unusableRange, .wrongLength, .unstable, .contentCoded, .noLocation, .unusableOffset:
        .invalidResponse
      case .uploadGone, .responseLost: .responseLost
      case .invalidDigest, .unknownLength, .notReplayable, .invalidMetadata, .unusableEndpoint, .accountMissing:
        .invalidRequest
      case .unknownTransfer, .closed: .notQueued
      }
    }
  }
}
