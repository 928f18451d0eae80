public import ApusCore
public import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A download or upload of a ``Transfers`` queue at one moment.
public struct Transfer: Sendable, Identifiable {
  /// The identifier of a transfer, which is the same in every process for the same endpoint, file and account.
  public struct ID: RawRepresentable, Sendable, Hashable, Codable {
    /// 32 hexadecimal digits.
    public let rawValue: String

    /// Creates an identifier, for example from a value that an app has stored.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  /// The direction of a transfer.
  public enum Direction: String, Sendable, Hashable, Codable {
    /// From the server to a file.
    case download
    /// From a file or from memory to the server.
    case upload
  }

  /// The state of a transfer. A complete or cancelled transfer is no longer in the queue.
  public enum State: Sendable {
    /// Queued: the transfer waits for a permit of the scheduler.
    case waiting
    /// In progress.
    case running
    /// Paused by the app, in this or an earlier process.
    case paused
    /// Failed, in this or an earlier process. ``Transfers/resume(_:)`` starts it again. An error from an earlier
    /// process has only its code and its message.
    case failed(CallError)
  }

  /// The identifier.
  public let id: ID
  /// The direction.
  public let direction: Direction
  /// The name of the endpoint's type in the store, see ``TransferEndpoint/transferName``.
  public let name: String
  /// The absolute path of the file of a download; `nil` for an upload.
  public let path: String?
  /// The priority in the queue.
  public internal(set) var priority: CallPriority
  /// The state.
  public internal(set) var state: State
  /// The progress. Before a transfer runs in this process, the stored progress.
  public internal(set) var progress: TransferProgress
  private let content: Data

  init(_ description: TransferDescription, _ priority: CallPriority, _ state: State, _ progress: TransferProgress) {
    (id, direction, name) = (description.id, description.direction, description.name)
    (path, content) = (description.path, Data(description.endpoint.utf8))
    (self.priority, self.state, self.progress) = (priority, state, progress)
  }

  /// Returns the endpoint, or `nil` if it is of another type.
  public func endpoint<E: TransferEndpoint>(as type: E.Type = E.self) -> E? {
    name == E.transferName ? try? JSONDecoder().decode(E.self, from: content) : nil
  }
}
