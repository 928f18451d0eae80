public import ApusCore

/// The reason why a transfer between a file and a server failed, and the number of bytes that were kept.
///
/// A `TransferError` is the `underlying` error of a failed transfer, see ``ApusCore/CallError/transfer``. The
/// description contains no name of a file or a server.
public struct TransferError: LoggableError {
  /// The kinds of reasons. ``TransferError/cause`` states the exact failure.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// The exchange failed: the connection was lost, a deadline passed, the call was cancelled or the server rejected
    /// it. The error's code states the cause.
    case interrupted
    /// The target exists, and the options do not permit to replace it.
    case fileExists
    /// The path cannot be that of a file: it is malformed, it is the path of a folder, its folder does not exist, or it
    /// leads to a link, a special file or another user's file.
    case invalidPath
    /// Another transfer, in this or another process, uses the file.
    case inUse
    /// The process may not write the file or access its folder, or the file system is read-only.
    case permissionDenied
    /// The disk or the user's quota is full, or has less free space than the rest of the file needs.
    case diskFull
    /// The file system failed in another way.
    case fileSystem
    /// The file to read does not exist, cannot be read by the process, or was changed.
    case fileUnreadable
    /// The content (body) does not have the expected digest, and was removed.
    case digestMismatch
    /// The file is larger than ``DownloadOptions/maximumSize`` or the content limit of the endpoint, or the server does
    /// not accept content of its size.
    case sizeLimit
    /// The server contradicts the protocol, or itself.
    case invalidResponse
    /// The server may have received all content, but its response was lost. The endpoint's value cannot be read without
    /// the response.
    case responseLost
    /// The content, its digest, its metadata or the endpoint cannot be transferred or stored, or ``Transfers`` lacks an
    /// account.
    case invalidRequest
    /// The queue is closed, or it has no transfer with this identifier: the transfer is complete, cancelled, of another
    /// account or in another process.
    case notQueued
  }

  /// The kind of reason.
  public var reason: Reason { problem.reason }
  package let problem: Problem
  /// The number of kept bytes. The same call, made again, does not transfer them a second time if the server can
  /// continue.
  public let keptBytes: Int64
  /// The length of the complete file in bytes, or `nil` if it is unknown.
  public let total: Int64?
  /// The error of the platform, or `nil` if there is none. Do not log it: it may contain secrets.
  package let underlying: (any Error)?

  package init(_ problem: Problem, keptBytes: Int64 = 0, total: Int64? = nil, underlying: (any Error)? = nil) {
    self.problem = problem
    self.keptBytes = keptBytes
    self.total = total
    self.underlying = underlying
  }

  func keeping(_ kept: Int64, of total: Int64?) -> TransferError {
    TransferError(problem, keptBytes: kept, total: total, underlying: underlying)
  }
}

extension CallError {
  /// The reason why a transfer failed, and the number of bytes that were kept. `nil` for errors of other calls.
  public var transfer: TransferError? { underlying as? TransferError }
}
