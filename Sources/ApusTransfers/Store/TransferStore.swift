#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store of the records from which interrupted transfers continue, also in a new process.
///
/// A record contains no credentials. It may contain the URL of an unfinished upload, and some servers accept bytes from
/// any client that knows this URL. A store must therefore be readable by its owner only. ``FileTransferStore`` keeps
/// records in a folder.
public protocol TransferStore: Sendable {
  /// Takes the lock of a record, so that no other transfer, in this or another process, uses it.
  ///
  /// - Parameter name: the name of the record: at most 64 letters, digits, `-` and `_`. It need not exist.
  /// - Throws: ``TransferError``, with the reason `inUse` if the record is locked.
  func lock(_ name: String) async throws(TransferError) -> any LockedTransferRecord

  /// The names of all records, in no particular order.
  ///
  /// - Throws: ``TransferError``
  var names: [String] { get async throws(TransferError) }
}

/// A record of a ``TransferStore`` that is locked by one transfer.
public protocol LockedTransferRecord: Sendable {
  /// Returns the content of the record, or `nil` if it does not exist.
  ///
  /// - Throws: ``TransferError``
  func read() async throws(TransferError) -> Data?

  /// Replaces the record atomically, or removes it. When this returns, the change survives a power loss.
  ///
  /// - Parameter content: at most 64 KiB; `nil` removes the record.
  /// - Throws: ``TransferError``
  func write(_ content: Data?) async throws(TransferError)

  /// Releases the lock. The record is not used afterwards.
  func release() async
}
