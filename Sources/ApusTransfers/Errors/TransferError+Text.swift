public import ApusCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension TransferError: ResponseFault {
  /// The reason, the kept bytes and the way to continue, without names. For logs and the description of a call's error.
  public var description: String {
    let clauses = [cause, progress, advice].compactMap(\.self)
    return clauses.joined(separator: "; ")
  }

  /// The exact failure as a part of a sentence, without advice. `nil` if the exchange failed: the call's error has the
  /// cause.
  public var cause: String? {
    switch problem {
    case .interrupted: nil
    case .fileExists: "the file exists"
    case .isFolder: "the path is that of a folder"
    case .notAFile: "the path leads to a link, a special file or another user's file"
    case .folderMissing: "the folder does not exist"
    case .invalidPath: "the path is not that of a file"
    case .inUse: "another transfer uses this file"
    case .permissionDenied: "the process may not write there"
    case .fileMissing: "the file does not exist"
    case .fileUnreadable: "the process may not read the file"
    case .readOnlyFileSystem: "the file system is read-only"
    case .diskFull: "there is not enough space on the disk"
    case .system(let number): "the file system failed (\(String(cString: strerror(number))))"
    case .digestMismatch: "the content does not have the expected digest and was removed"
    case .invalidDigest: "the digest is neither hexadecimal nor Base64 of the right length"
    case .unexpectedStatus(let status): "a response with status \(status) contains no file"
    case .unusableRange: "the server sent a part of the file that was not requested, or too many small parts"
    case .wrongLength: "the server sent another number of bytes than it announced"
    case .unstable: "the file on the server changed repeatedly during the download"
    case .contentCoded: "the transport decoded the content, whose bytes are not those of the file"
    case .fileTooLarge(let maximum): "the file is larger than \(maximum) bytes"
    case .unknownLength: "the length of the content is not known beforehand"
    case .notReplayable: "the content can be read only once"
    case .contentChanged: "the file to send was changed"
    case .invalidMetadata: "a key of the metadata is empty or contains a character that is not allowed"
    case .contentTooLarge(let limit): "the server accepts at most \(limit) bytes"
    case .contentTooSmall(let minimum): "the server accepts at least \(minimum) bytes"
    case .noLocation: "the server created an upload without a usable URL"
    case .unusableOffset: "the server stated an offset or a length that contradicts the upload"
    case .uploadGone: "the server no longer has the upload"
    case .responseLost: "the server has all content, but its response was lost"
    case .unusableEndpoint: "the type of the stored endpoint is not declared, or its values cannot be stored"
    case .unknownTransfer: "the queue has no such transfer"
    case .closed: "the queue of transfers is closed"
    case .accountMissing: "the client has credentials, but the queue of transfers has no account"
    }
  }

  private var progress: String? {
    if keptBytes > 0 { return "\(keptBytes)\(total.map { " of \($0)" } ?? "") bytes are kept" }
    return problem == .interrupted ? "nothing is kept" : nil
  }

  private var advice: String? {
    switch problem {
    case .interrupted: keptBytes > 0 ? "the same call continues" : "the same call starts again"
    case .fileExists: "set `replacesExisting`, or choose another name"
    case .isFolder, .invalidPath: "add the name of the file"
    case .notAFile: "choose another name"
    case .folderMissing: "create the folder"
    case .inUse: "wait for the other transfer, or choose another name"
    case .permissionDenied: "choose another folder, or change its permissions"
    case .fileMissing: "check the path"
    case .fileUnreadable: "change the permissions of the file"
    case .accountMissing: "set `account`"
    case .readOnlyFileSystem: "choose another folder"
    case .diskFull: "free some space, and make the same call again"
    case .system: keptBytes > 0 ? "the same call continues" : nil
    case .digestMismatch: "download it again, or correct the digest"
    case .contentCoded: "use a transport that does not decode it"
    case .fileTooLarge: "raise `maximumSize` or the endpoint's content limit"
    case .unusableRange: keptBytes > 0 ? "the same call continues" : nil
    case .wrongLength: keptBytes > 0 ? "set `resumes` to false to start over" : nil
    case .unknownLength: "send content with a known length, such as a file that is not compressed"
    case .notReplayable: "send a file, bytes or a replayable stream"
    case .contentChanged: "the same call uploads the file as it is now"
    case .uploadGone: "find out whether it was completed; the same call starts again"
    case .unusableEndpoint: "declare the type, or cancel the transfer"
    case .invalidDigest, .unexpectedStatus, .unstable, .invalidMetadata, .contentTooLarge, .contentTooSmall,
      .noLocation,
      .unusableOffset, .responseLost, .unknownTransfer, .closed:
      nil
    }
  }

  /// The failure of a call whose response cannot be used, as a predicate.
  package var predicate: String? {
    reason == .interrupted ? (underlying as? any ResponseFault)?.predicate : "got a response that cannot be used"
  }

  /// The code of the call's error.
  var code: CallError.Code? {
    switch problem {
    case .interrupted: nil
    case .unexpectedStatus, .unusableRange, .wrongLength, .unstable, .contentCoded, .digestMismatch, .noLocation,
      .unusableOffset:
      .malformedResponse
    case .invalidDigest, .unknownLength, .notReplayable, .invalidMetadata, .accountMissing: .invalidRequest
    case .fileTooLarge: .contentTooLarge
    case .contentChanged, .fileMissing, .fileUnreadable: .encoding
    case .uploadGone, .responseLost: .connectionLost
    case .fileExists, .isFolder, .notAFile, .folderMissing, .invalidPath, .inUse, .permissionDenied,
      .readOnlyFileSystem, .diskFull, .system, .contentTooLarge, .contentTooSmall, .unusableEndpoint, .unknownTransfer,
      .closed:
      .refused
    }
  }

  /// The sentence for a person, or `nil` where the default text for the error's code fits.
  var message: String? {
    switch problem {
    case .fileExists: "There is already a file with this name."
    case .isFolder, .notAFile, .invalidPath: "This name cannot be used for the file."
    case .folderMissing: "The folder for the file does not exist."
    case .inUse: "This file is already being transferred."
    case .fileMissing: "The file does not exist."
    case .fileUnreadable: "The file cannot be read."
    case .permissionDenied, .readOnlyFileSystem: "The file cannot be saved there."
    case .diskFull: "There is not enough space for the file. Free some space and try again."
    case .system: "The file could not be saved."
    case .digestMismatch: "The file arrived damaged and was removed. Try again."
    case .fileTooLarge: "The file is larger than allowed."
    case .contentTooLarge: "The file is too large for the server."
    case .contentTooSmall: "The file is too small for the server."
    default: nil
    }
  }
}
